(* Handles keep-alive, time limits and the end of a connection. *)

open Concord
open Http_message

type config = {
  idle_timeout : float;
  transfer_timeout : float;
  drain : unit Promise.t;
  log : string -> unit;
}

(* --- Input with a time limit --- *)

exception Too_late

type client = {
  socket : Host.connection;
  input : Input.t;
  limit : Limit.t ref;  (** For reading. *)
}

let client (socket : Host.connection) =
  let limit = ref Limit.never in
  let read () =
    match socket.read ~limit:!limit with
    | Some data -> data
    | None -> raise Too_late
  in
  { socket; input = Input.create read; limit }

(* Waits for the first byte of a request, and returns [true] if it has come. If a byte arrives
   together with the signal to drain, it is in the input, and counts. *)
let await_request t client =
  if Input.length client.input = 0 then (
    client.limit := Limit.after ~idle:true t.drain t.idle_timeout;
    try Input.more client.input with End_of_file | Too_late -> ());
  Input.length client.input > 0

let receive t client =
  let limit = Limit.after t.drain t.transfer_timeout in
  let go_on text =
    if not (client.socket.write ~limit text) then raise End_of_file
  in
  client.limit := limit;
  try Message.receive client.input ~go_on
  with Too_late ->
    Refused (`Request_timeout, "the request took too long to arrive")

(* --- Answers --- *)

(* The backtrace is taken first, because any other code may replace it. *)
let handle_safely t handle (request : Http.Request.t) body =
  try handle request body
  with e ->
    let backtrace = Printexc.get_raw_backtrace () in
    if Tasks.is_cancelled () then Printexc.raise_with_backtrace e backtrace;
    t.log
      (String.trim
         (Printf.sprintf "%s %S: %s\n%s"
            (Http.Method.to_string request.meth)
            request.resource (Printexc.to_string e)
            (Printexc.raw_backtrace_to_string backtrace)));
    Message.answer `Internal_server_error "internal error"

let write t client text =
  client.socket.write ~limit:(Limit.after t.drain t.transfer_timeout) text

(* Reads and drops all further input until the client closes the connection. *)
let rec until_closed client =
  Input.skip client.input (Input.length client.input);
  match Input.more client.input with
  | () -> until_closed client
  | exception End_of_file -> ()

exception Disconnected

(* Only here, two tasks use a connection at the same time. *)
let stream t client ~chunked f =
  let send event =
    let text = if chunked then Message.chunk event else event in
    if event <> "" && not (write t client text) then raise Disconnected
  in
  client.limit := Limit.never;
  match
    Tasks.first
      (fun () ->
        f send;
        true)
      (fun () ->
        until_closed client;
        false)
  with
  | ended -> ended && ((not chunked) || write t client Message.last_chunk)
  | exception Disconnected -> false

(* Returns whether all of it was sent. *)
let send t client ?(head_only = false) ?(chunked = true) ~keep_alive answer =
  write t client (Message.to_string ~head_only ~chunked ~keep_alive answer)
  &&
  match answer.body with
  | Events f when not head_only -> stream t client ~chunked f
  | Events _ | Text _ | Html _ | Typed _ -> true

(* Reads and discards input for a while before the socket is closed. If a closed socket
   still has unread input, the system resets the connection, and the client may lose the
   last answer. *)
let linger t client =
  client.socket.shutdown ();
  client.limit := Limit.after ~idle:true t.drain 1.;
  for _ = 1 to 64 do
    Input.skip client.input (Input.length client.input);
    Input.more client.input
  done

let is_endless = function
  | { Message.body = Events _; _ } -> true
  | { body = Text _ | Html _ | Typed _; _ } -> false

let serve t handle socket =
  let client = client socket in
  let rec next () =
    if await_request t client then
      match receive t client with
      | Refused (status, text) ->
          if send t client ~keep_alive:false (Message.answer status text) then
            linger t client
      | Request (request, body) ->
          let answer = handle_safely t handle request body in
          (* Input that comes during a stream of events is dropped, so no request can follow
             it. *)
          let keep_alive =
            Message.keeps_alive request
            && (not (is_endless answer))
            && not (Promise.is_resolved t.drain)
          in
          let head_only = request.meth = `HEAD
          and chunked = Message.is_chunked request in
          if send t client ~head_only ~chunked ~keep_alive answer then
            if keep_alive then next () else linger t client
  in
  try next () with End_of_file | Too_late -> ()
