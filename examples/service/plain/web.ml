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

type answer = Cohttp.Code.status_code * string

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

let write output ~keep_alive (status, text) =
  let text = text ^ "\n" in
  let headers =
    Cohttp.Header.of_list
      [
        ("content-type", "text/plain");
        ("connection", if keep_alive then "keep-alive" else "close");
      ]
  and encoding = Cohttp.Transfer.Fixed (Int64.of_int (String.length text)) in
  Response.write ~flush:true
    (fun writer -> Response.write_body writer text)
    (Cohttp.Response.make ~status ~encoding ~headers ())
    output

let idle_timeout = 30.

(* Returns the next request and its body, or [None] if the client is silent for too long or the
   service stops. *)
let next_request ~clock ~stop input =
  Eio.Fiber.any
    [
      (fun () ->
        match Request.read input with
        | `Ok request -> Some (request, read_body request input)
        | `Eof | `Invalid _ -> None);
      (fun () ->
        Eio.Promise.await stop;
        None);
      (fun () ->
        Eio.Time.sleep clock idle_timeout;
        None);
    ]

let converse ~clock ~stop handle socket =
  let input = Eio.Buf_read.of_flow socket ~max_size:65_536 in
  Eio.Buf_write.with_flow socket @@ fun output ->
  let rec go () =
    match next_request ~clock ~stop input with
    | None -> ()
    | Some (request, body) ->
        let answer = handle request body in
        let keep_alive =
          Cohttp.Request.is_keep_alive request
          && not (Eio.Promise.is_resolved stop)
        in
        write output ~keep_alive answer;
        if keep_alive then go ()
  in
  go ()

(* --- The server -------------------------------------------------------------- *)

let listen ~port =
  let socket = Unix.socket ~cloexec:true PF_INET SOCK_STREAM 0 in
  Unix.setsockopt socket SO_REUSEADDR true;
  Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, port));
  Unix.listen socket 128;
  socket

let port socket =
  match Unix.getsockname socket with
  | ADDR_INET (_, port) -> port
  | ADDR_UNIX _ -> assert false

let serve sw ~clock ~stop socket handle =
  let socket =
    Eio_unix.Net.import_socket_listening ~sw ~close_unix:false socket
  in
  let client_is_gone = function
    | End_of_file | Eio.Io _ | Eio.Buf_read.Buffer_limit_exceeded
    | Body_too_large ->
        ()
    | e -> raise e
  in
  Eio.Net.run_server socket ~stop ~on_error:client_is_gone (fun socket _ ->
      Eio.Net.(setsockopt socket Sockopt.TCP_NODELAY true);
      converse ~clock ~stop handle socket)
