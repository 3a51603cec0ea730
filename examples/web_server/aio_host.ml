(* The host of the server on Concord_aio. Each connection is a task of Concord_fifo. *)

open Concord
open Http_service
open Http_service.Host

(* Calls [f] at once. If the descriptor isn't ready, the task waits until it is, or until the
   limit. *)
let rec unless limit ~ready f =
  match f () with
  | v -> Some v
  | exception Unix.Unix_error ((EAGAIN | EWOULDBLOCK), _, _) -> (
      let stop = Event.wrap (Limit.event limit) (fun () -> false)
      and go_on = Event.wrap ready (fun () -> true) in
      match Event.select [ stop; go_on ] with
      | true -> unless limit ~ready f
      | false -> None)
  | exception Unix.Unix_error (EINTR, _, _) -> unless limit ~ready f

let close socket = try Concord_aio.close socket with Unix.Unix_error _ -> ()

let connection socket =
  let buffer = Bytes.create 4096 in
  let readable = Concord_aio.readable_evt socket
  and writable = Concord_aio.writable_evt socket in
  let read ~limit =
    (* Yields, so that a client that sends without end lets other clients be served. *)
    Concord_fifo.yield ();
    match
      unless limit ~ready:readable (fun () ->
          Unix.read socket buffer 0 (Bytes.length buffer))
    with
    | Some length -> Some (Bytes.sub_string buffer 0 length)
    | None -> None
    | exception Unix.Unix_error _ -> Some ""
  in
  let rec write_from start ~limit text =
    let length = String.length text - start in
    length = 0
    ||
    match
      unless limit ~ready:writable (fun () ->
          Unix.single_write_substring socket text start length)
    with
    | Some written -> write_from (start + written) ~limit text
    | None | (exception Unix.Unix_error _) -> false
  in
  let shutdown () =
    try Unix.shutdown socket SHUTDOWN_SEND with Unix.Unix_error _ -> ()
  in
  { read; write = write_from 0; shutdown; close = (fun () -> close socket) }

(* With the delay (Nagle's algorithm), an answer could wait until the client acknowledges the
   previous one. *)
let prepare socket =
  Unix.set_nonblock socket;
  try Unix.setsockopt socket TCP_NODELAY true with Unix.Unix_error _ -> ()

let accept socket ~unless:event =
  let accepted =
    Event.wrap (Concord_aio.accept_evt socket) (fun (client, _address) ->
        prepare client;
        Some (connection client))
  in
  try Event.select [ accepted; Event.wrap event (fun () -> None) ]
  with Unix.Unix_error (error, _, _) ->
    raise (Cannot_accept (Unix.error_message error))

let with_listener socket f =
  let host =
    {
      accept = accept socket;
      fork = (fun f -> ignore (Concord_fifo.fork f : Concord_fifo.handle));
      close = (fun () -> close socket);
    }
  in
  (* Cancels the tasks that [f] has left running. *)
  try
    Concord_fifo.Scope.run @@ fun scope ->
    f host;
    Concord_fifo.Scope.cancel scope
  with Concord_fifo.Cancelled -> ()
