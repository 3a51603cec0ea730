(* The host of the server on Concord_aio. Each connection is a task of Concord_fifo. *)

open Concord
open Http_service
open Http_service.Host

(* [None] if the limit comes first. Mostly nothing has to wait, so the limit isn't needed. *)
let within limit event =
  match Event.poll event with
  | Some _ as result -> result
  | None ->
      Event.select
        [
          Event.wrap event Option.some;
          Event.wrap (Limit.event limit) (fun () -> None);
        ]

let close socket = try Concord_aio.close socket with Unix.Unix_error _ -> ()

let connection socket =
  let buffer = Bytes.create 4096 in
  let input = Concord_aio.read_evt socket buffer 0 (Bytes.length buffer) in
  let read ~limit =
    (* Yields, so that a client that sends without end lets other clients be served. *)
    Concord_fifo.yield ();
    match within limit input with
    | Some length -> Some (Bytes.sub_string buffer 0 length)
    | None -> None
    | exception Unix.Unix_error _ -> Some ""
  in
  let rec write_from start ~limit text =
    let length = String.length text - start in
    length = 0
    ||
    match
      within limit
        (Concord_aio.single_write_substring_evt socket text start length)
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
