(* Sockets of Unix; one task of Concord_fifo for each connection. *)

open Concord
open Http_service.Host

(* [attempt ()] is made again each time that the socket is ready. *)
let rec retry ready ~unless attempt =
  match attempt () with
  | v -> Some v
  | exception Unix.Unix_error (EINTR, _, _) -> retry ready ~unless attempt
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) ->
      let is_ready =
        Event.select
          [
            Event.wrap ready (fun () -> true);
            Event.wrap unless (fun () -> false);
          ]
      in
      if is_ready then retry ready ~unless attempt else None

let connection socket =
  let buffer = Bytes.create 4096 in
  let readable = Concord_aio.readable_evt socket
  and writable = Concord_aio.writable_evt socket in
  let read ~unless =
    match
      retry readable ~unless (fun () ->
          Unix.read socket buffer 0 (Bytes.length buffer))
    with
    | Some length -> Some (Bytes.sub_string buffer 0 length)
    | None -> None
    | exception Unix.Unix_error _ -> Some ""
  in
  let rec write_from start ~unless text =
    let length = String.length text - start in
    length = 0
    ||
    match
      retry writable ~unless (fun () ->
          Unix.single_write_substring socket text start length)
    with
    | Some written -> write_from (start + written) ~unless text
    | None | (exception Unix.Unix_error _) -> false
  in
  let shutdown () =
    try Unix.shutdown socket SHUTDOWN_SEND with Unix.Unix_error _ -> ()
  in
  {
    read;
    write = write_from 0;
    shutdown;
    close = (fun () -> Concord_aio.close socket);
  }

let accept socket ~unless =
  match
    Event.select
      [
        Event.wrap (Concord_aio.accept_evt socket) Option.some;
        Event.wrap unless (fun () -> None);
      ]
  with
  | Some (client, _address) ->
      Unix.set_nonblock client;
      (* Else an answer could wait for the client to acknowledge the one before. *)
      (try Unix.setsockopt client TCP_NODELAY true
       with Unix.Unix_error _ -> ());
      Some (connection client)
  | None -> None
  | exception Unix.Unix_error (error, _, _) ->
      raise (Cannot_accept (Unix.error_message error))

(* Whatever is left at the end is cancelled, and the scope says so. *)
let with_listener socket f =
  Concord_aio.run @@ fun () ->
  let result = ref None in
  let fork f = ignore (Concord_fifo.fork f : Concord_fifo.handle) in
  let close () = Concord_aio.close socket in
  match
    Concord_fifo.Scope.run (fun scope ->
        result := Some (f { accept = accept socket; fork; close });
        Concord_fifo.Scope.cancel scope)
  with
  | () | (exception Concord_fifo.Cancelled) -> (
      match !result with
      | Some result -> result
      | None -> raise Concord_fifo.Cancelled)
