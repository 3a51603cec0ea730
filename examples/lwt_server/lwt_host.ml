(* The host of the server on Lwt. Each connection is a task of Lwt_direct. *)

open Http_service
open Http_service.Host

let await = Lwt_direct.await

let unless event promise =
  if Lwt.is_sleeping promise then
    let event = Concord_lwt.sync event in
    await
      (Lwt.pick [ Lwt.map Option.some promise; Lwt.map (fun () -> None) event ])
  else (
    (* Yields, so that a client that sends without end lets other clients be served. *)
    Lwt_direct.yield ();
    Some (await promise))

let close socket =
  try await (Lwt_unix.close socket) with Unix.Unix_error _ -> ()

let connection socket =
  let buffer = Bytes.create 4096 in
  let read ~limit =
    match
      unless (Limit.event limit)
        (Lwt_unix.read socket buffer 0 (Bytes.length buffer))
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
      unless (Limit.event limit)
        (Lwt_unix.write_string socket text start length)
    with
    | Some written -> write_from (start + written) ~limit text
    | None | (exception Unix.Unix_error _) -> false
  in
  let shutdown () =
    try Lwt_unix.shutdown socket SHUTDOWN_SEND with Unix.Unix_error _ -> ()
  in
  { read; write = write_from 0; shutdown; close = (fun () -> close socket) }

(* With the delay (Nagle's algorithm), an answer could wait until the client acknowledges the
   previous one. *)
let set_no_delay socket =
  try Lwt_unix.setsockopt socket TCP_NODELAY true with Unix.Unix_error _ -> ()

let accept socket ~unless:event =
  match unless event (Lwt_unix.accept ~cloexec:true socket) with
  | Some (client, _address) ->
      set_no_delay client;
      Some (connection client)
  | None -> None
  | exception Unix.Unix_error (error, _, _) ->
      raise (Cannot_accept (Unix.error_message error))

(* Without [~blocking], Lwt (6.1.2) uses a thread to find out whether the socket blocks.
   [Lwt.cancel] doesn't stop an [accept] that waits for that thread. The [accept] would later
   take a client, or it would wait for a descriptor that has been closed, and then libev
   aborts. *)
let with_listener socket f =
  let socket = Lwt_unix.of_unix_file_descr ~blocking:false socket in
  Lwt_direct.spawn @@ fun () ->
  f
    {
      accept = accept socket;
      fork = Lwt_direct.spawn_in_the_background;
      close = (fun () -> close socket);
    }
