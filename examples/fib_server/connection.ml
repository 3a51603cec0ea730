(* Keep-alive, timeouts and the end of a connection. *)

module Promise = Concord.Promise

type config = {
  clock : Eio.Time.Mono.ty Eio.Resource.t;
  idle_timeout : float;
  transfer_timeout : float;
  drain : unit Promise.t;
  log : string -> unit;
}

let timeout t seconds = Eio.Time.Timeout.seconds t.clock seconds

let send t socket ?head_only ~keep_alive answer =
  Eio.Time.Timeout.run_exn (timeout t t.transfer_timeout) @@ fun () ->
  Http_io.send socket ?head_only ~keep_alive answer

(* [true] as soon as the first byte of a request is there. A byte that arrives
   together with the signal to drain is in the buffer, and counts. *)
let await_request t reader =
  if Eio.Buf_read.buffered_bytes reader = 0 then
    Eio.Fiber.first
      (fun () ->
        try
          Eio.Time.Timeout.run_exn (timeout t t.idle_timeout) @@ fun () ->
          Eio.Buf_read.ensure reader 1
        with End_of_file | Eio.Time.Timeout -> ())
      (fun () -> Promise.await t.drain);
  Eio.Buf_read.buffered_bytes reader > 0

(* To close a socket that holds unread input resets the connection, and the
   client may then lose the answer that says what was wrong. So its input is
   read for a while, and forgotten. *)
let send_and_linger t socket answer =
  send t socket ~keep_alive:false answer;
  Eio.Flow.shutdown socket `Send;
  let scrap = Cstruct.create 4096 in
  Eio.Time.Timeout.run_exn (timeout t 1.) @@ fun () ->
  for _ = 1 to 64 do
    ignore (Eio.Flow.single_read socket scrap : int)
  done

let handle_safely t handle (request : Http.Request.t) =
  match handle request with
  | answer -> answer
  | exception (Eio.Cancel.Cancelled _ as e) -> raise e
  | exception e ->
      t.log
        (Printf.sprintf "%s %S: %s"
           (Http.Method.to_string request.meth)
           request.resource (Printexc.to_string e));
      Http_io.answer `Internal_server_error "internal error"

let serve t handle socket =
  let reader =
    Eio.Buf_read.of_flow socket ~initial_size:1024 ~max_size:Http_io.max_head
  in
  let sink = (socket :> Eio.Flow.sink_ty Eio.Resource.t) in
  let receive () =
    try
      Eio.Time.Timeout.run_exn (timeout t t.transfer_timeout) @@ fun () ->
      Http_io.receive reader sink
    with Eio.Time.Timeout ->
      Refused (`Request_timeout, "the request took too long to come")
  in
  let rec next () =
    if await_request t reader then
      match receive () with
      | Refused (status, text) ->
          send_and_linger t socket (Http_io.answer status text)
      | Request request ->
          let answer = handle_safely t handle request in
          let keep_alive =
            Http_io.keeps_alive request && not (Promise.is_resolved t.drain)
          in
          send t socket ~head_only:(request.meth = `HEAD) ~keep_alive answer;
          if keep_alive then next ()
  in
  (* The client hung up, or does not read. *)
  try
    (* Else an answer could wait for the client to acknowledge the one before. *)
    Eio.Net.(setsockopt socket Sockopt.TCP_NODELAY true);
    next ()
  with End_of_file | Eio.Io _ | Eio.Time.Timeout -> ()
