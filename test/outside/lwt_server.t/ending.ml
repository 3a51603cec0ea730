(* A server of cohttp-lwt-unix that ends in order. *)

open Lwt.Syntax
module Server = Cohttp_lwt_unix.Server

type connection = {
  socket : Lwt_unix.file_descr;
  mutable is_handling : bool;  (** The handler may still read the request. *)
  mutable writer : unit Lwt.t;  (** It writes the body of the answer. *)
}

let shutdown { socket; _ } how =
  try Lwt_unix.shutdown socket how with Unix.Unix_error _ -> ()

(* [write push] writes a body piece by piece. If it fails, the client must not take the body for
   complete, so the connection is cut before the body ends. *)
let body_of connection write =
  let stream, queue = Lwt_stream.create_bounded 1 in
  connection.writer <- Lwt.apply write queue#push;
  Lwt.on_any connection.writer
    (fun () -> queue#close)
    (fun _ ->
      shutdown connection SHUTDOWN_ALL;
      queue#close);
  Cohttp_lwt.Body.of_stream stream

(* [Server.create] makes this channel for each connection too, and there is no public way. *)
module Input_channel = Cohttp_lwt_unix.Private.Input_channel

let socket_of : Conduit_lwt_unix.flow -> _ = function
  | TCP { fd; _ } -> fd
  | Domain_socket { fd; _ } -> fd
  | Tunnel _ | Vchan _ -> invalid_arg "Ending: not a server's socket"

let unless_failed promise =
  Lwt.catch (fun () -> promise) (fun _ -> Lwt.return_unit)

(* The promise is resolved when the answer has been sent and the channel is closed. *)
let serve_one ~stop connection handle flow input output =
  let callback _ request body =
    connection.is_handling <- true;
    Lwt.finalize
      (fun () -> handle ~body_of:(body_of connection) request body)
      (fun () ->
        connection.is_handling <- false;
        if not (Lwt.is_sleeping stop) then shutdown connection SHUTDOWN_RECEIVE;
        Lwt.return_unit)
  in
  Lwt.finalize
    (fun () ->
      let input = Input_channel.create input in
      Server.callback (Server.make ~callback ()) flow input output)
    (fun () ->
      Lwt.cancel connection.writer;
      let* () = unless_failed connection.writer in
      Lwt_io.close output)

let serve ~stop ~patience ~mode handle =
  let connections = Hashtbl.create 16 and opened = ref 0 in
  let open_one flow input output =
    let writer = Lwt.return_unit in
    let connection = { socket = socket_of flow; is_handling = false; writer } in
    let served = serve_one ~stop connection handle flow input output in
    incr opened;
    let number = !opened in
    Hashtbl.replace connections number (connection, served);
    Lwt.on_termination served (fun () -> Hashtbl.remove connections number);
    served
  in
  let left () = List.of_seq (Hashtbl.to_seq_values connections) in
  (* [Lwt.pick] cancels those that have not ended in time. *)
  let end_in_time () =
    let ended = List.map (fun (_, served) -> unless_failed served) (left ()) in
    Lwt.pick [ Lwt.join ended; Lwt_unix.sleep patience ]
  in
  (* It accepts connections until [stop] is resolved. *)
  let* () =
    Conduit_lwt_unix.serve ~stop ~on_exn:ignore ~mode
      ~ctx:(Lazy.force Conduit_lwt_unix.default_ctx)
      open_one
  in
  (* Each connection ends after the answer that it is sending, if any. *)
  List.iter
    (fun (connection, _) ->
      if not connection.is_handling then shutdown connection SHUTDOWN_RECEIVE)
    (left ());
  let* () = end_in_time () in
  (* The others end now, but a client that reads nothing still gets the rest of a buffer, until
     that is cancelled too. *)
  end_in_time ()
