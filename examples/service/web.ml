open Concord

type answer =
  | Text of Cohttp.Code.status_code * string
  | Page of string
  | Events of ((string -> unit) -> unit)

(* --- The functions that cohttp needs from Eio ------------------------------- *)

module Io = struct
  type 'a t = 'a

  let ( >>= ) v f = f v
  let return = Fun.id

  type ic = Eio.Buf_read.t
  type oc = Eio.Buf_write.t
  type conn = unit

  let refill input =
    match Eio.Buf_read.ensure input (Eio.Buf_read.buffered_bytes input + 1) with
    | () -> `Ok
    | exception End_of_file -> `Eof

  let with_input_buffer input ~f =
    let buffered = Cstruct.to_string (Eio.Buf_read.peek input) in
    let v, used = f buffered ~pos:0 ~len:(String.length buffered) in
    Eio.Buf_read.consume input used;
    v

  let read_line input =
    match Eio.Buf_read.line input with
    | line -> Some line
    | exception End_of_file -> None

  let read input most =
    match Eio.Buf_read.ensure input 1 with
    | () ->
        Eio.Buf_read.take
          (Int.min most (Eio.Buf_read.buffered_bytes input))
          input
    | exception End_of_file -> ""

  let write output text = Eio.Buf_write.string output text
  let flush = Eio.Buf_write.flush
end

module Request = Cohttp.Request.Private.Make (Io)
module Response = Cohttp.Response.Private.Make (Io)

(* --- One connection ---------------------------------------------------------- *)

let max_body = 65_536

exception Body_too_large

let read_body request input =
  let reader = Request.make_body_reader request input in
  let rec go text =
    if String.length text > max_body then raise Body_too_large;
    match Request.read_body_chunk reader with
    | Done -> text
    | Chunk more -> go (text ^ more)
    | Final_chunk more -> text ^ more
  in
  match Cohttp.Request.has_body request with
  | `Yes -> go ""
  | `No | `Unknown -> ""

(* Reads and drops all further input until the client closes the connection. *)
let rec until_closed input =
  match Eio.Buf_read.ensure input 1 with
  | () ->
      Eio.Buf_read.consume input (Eio.Buf_read.buffered_bytes input);
      until_closed input
  | exception End_of_file -> ()

let write input output ~keep_alive answer =
  let respond ?encoding status content_type body =
    let headers =
      Cohttp.Header.of_list
        [
          ("content-type", content_type);
          ("connection", if keep_alive then "keep-alive" else "close");
        ]
    in
    Response.write ~flush:true body
      (Cohttp.Response.make ~status ?encoding ~headers ())
      output
  in
  let whole status content_type text =
    let encoding = Cohttp.Transfer.Fixed (Int64.of_int (String.length text)) in
    respond ~encoding status content_type (fun writer ->
        Response.write_body writer text)
  in
  match answer with
  | Text (status, text) -> whole status "text/plain" (text ^ "\n")
  | Page html -> whole `OK "text/html" html
  | Events f ->
      respond ~encoding:Chunked `OK "text/event-stream" (fun writer ->
          let send event =
            Response.write_body writer event;
            Io.flush output
          in
          Tasks.first (fun () -> f send) (fun () -> until_closed input))

let idle_timeout = 30.

(* Returns the next request and its body, or [None] if the client is silent for too long or the
   service stops. *)
let next_request ~stop input =
  let read () =
    match Request.read input with
    | `Ok request -> Some (request, read_body request input)
    | `Eof | `Invalid _ -> None
  and stopped () =
    ignore (Promise.await_result stop : (_, exn) result);
    None
  in
  Option.join
    (Tasks.with_timeout idle_timeout (fun () -> Tasks.first read stopped))

let converse ~stop handle socket =
  let input = Eio.Buf_read.of_flow socket ~max_size:65_536 in
  Eio.Buf_write.with_flow socket @@ fun output ->
  let rec go () =
    match next_request ~stop input with
    | None -> ()
    | Some (request, body) ->
        let answer = handle request body in
        let keep_alive =
          Cohttp.Request.is_keep_alive request && not (Promise.is_resolved stop)
        in
        write input output ~keep_alive answer;
        if keep_alive then go ()
  in
  go ()

(* --- The server -------------------------------------------------------------- *)

let listen ~port =
  let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.setsockopt socket SO_REUSEADDR true;
  (* Limits the send buffer of each connection. By default, thousands of old events would wait
     there for a slow client. *)
  Unix.setsockopt_int socket SO_SNDBUF 16_384;
  Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, port));
  Unix.listen socket 128;
  socket

let port socket =
  match Unix.getsockname socket with
  | ADDR_INET (_, port) -> port
  | ADDR_UNIX _ -> assert false

let serve sw ~stop socket handle =
  let socket =
    Eio_unix.Net.import_socket_listening ~sw ~close_unix:false socket
  in
  let stopped, resolve = Eio.Promise.create () in
  Promise.on_resolve stop (fun _ -> Eio.Promise.resolve resolve ());
  let client_is_gone = function
    | End_of_file | Eio.Io _ | Eio.Buf_read.Buffer_limit_exceeded
    | Body_too_large ->
        ()
    | e -> raise e
  in
  Eio.Net.run_server socket ~stop:stopped ~on_error:client_is_gone
    (fun socket _ ->
      Eio.Net.(setsockopt socket Sockopt.TCP_NODELAY true);
      converse ~stop handle socket)
