(* Handles keep-alive, time limits and the end of a connection. *)

open Concord

type config = {
  idle_timeout : float;
  transfer_timeout : float;
  drain : unit Promise.t;
  log : string -> unit;
}

(* Waits for the first byte of a request, and returns [true] if it has come. If a byte arrives
   together with the signal to drain, it is in the input, and counts. *)
let await_request t input =
  if Input.length input = 0 then (
    Input.set_limit input (Limit.after ~idle:true t.drain t.idle_timeout);
    try Input.more input with End_of_file | Input.Too_late -> ());
  Input.length input > 0

let receive t (socket : Host.connection) input =
  let limit = Limit.after t.drain t.transfer_timeout in
  let go_on text = if not (socket.write ~limit text) then raise End_of_file in
  Input.set_limit input limit;
  try Message.receive input ~go_on
  with Input.Too_late ->
    Refused (`Request_timeout, "the request took too long to arrive")

(* The backtrace is taken first, because any other code may replace it. *)
let handle_safely t handle (request : Http.Request.t) =
  try handle request
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

let send t (socket : Host.connection) ?head_only ~keep_alive answer =
  socket.write
    ~limit:(Limit.after t.drain t.transfer_timeout)
    (Message.to_string ?head_only ~keep_alive answer)

(* Reads and discards input for a while before the socket is closed. If a closed socket
   still has unread input, the system resets the connection, and the client may lose the
   last answer. *)
let linger t (socket : Host.connection) input =
  socket.shutdown ();
  Input.set_limit input (Limit.after ~idle:true t.drain 1.);
  for _ = 1 to 64 do
    Input.skip input (Input.length input);
    Input.more input
  done

let serve t handle socket =
  let input = Input.create socket in
  let rec next () =
    if await_request t input then
      match receive t socket input with
      | Refused (status, text) ->
          if send t socket ~keep_alive:false (Message.answer status text) then
            linger t socket input
      | Request request ->
          let answer = handle_safely t handle request in
          let keep_alive =
            Message.keeps_alive request && not (Promise.is_resolved t.drain)
          in
          let head_only = request.meth = `HEAD in
          if send t socket ~head_only ~keep_alive answer then
            if keep_alive then next () else linger t socket input
  in
  try next () with End_of_file | Input.Too_late -> ()
