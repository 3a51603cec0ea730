(* Sockets of Eio; one fiber for each connection. *)

open Eio.Std
open Http_service.Host

let unless event f =
  Fiber.first
    (fun () -> Some (f ()))
    (fun () ->
      Concord.Event.sync event;
      None)

let connection socket =
  let buffer = Cstruct.create 4096 in
  {
    read =
      (fun ~unless:event ->
        match unless event (fun () -> Eio.Flow.single_read socket buffer) with
        | Some length -> Some (Cstruct.to_string buffer ~len:length)
        | None -> None
        | exception (End_of_file | Eio.Io _) -> Some "");
    write =
      (fun ~unless:event text ->
        match unless event (fun () -> Eio.Flow.copy_string text socket) with
        | Some () -> true
        | None | (exception Eio.Io _) -> false);
    shutdown =
      (fun () -> try Eio.Flow.shutdown socket `Send with Eio.Io _ -> ());
    close = (fun () -> Eio.Net.close socket);
  }

(* Else an answer could wait for the client to acknowledge the one before. *)
let set_no_delay socket =
  try Eio.Net.(setsockopt socket Sockopt.TCP_NODELAY true) with Eio.Io _ -> ()

let accept ~sw socket ~unless:event =
  match unless event (fun () -> Eio.Net.accept ~sw socket) with
  | Some (client, _address) ->
      set_no_delay client;
      Some (connection client)
  | None -> None
  | exception Eio.Io (Eio.Exn.X (Eio_unix.Unix_error (error, _, _)), _) ->
      raise (Cannot_accept (Unix.error_message error))
  | exception (Eio.Io _ as e) -> raise (Cannot_accept (Printexc.to_string e))

let with_listener socket f =
  Switch.run @@ fun sw ->
  let socket =
    Eio_unix.Net.import_socket_listening ~sw ~close_unix:true socket
  in
  f
    {
      accept = (fun ~unless -> accept ~sw socket ~unless);
      fork =
        (fun f ->
          Fiber.fork_daemon ~sw (fun () ->
              f ();
              `Stop_daemon));
      close = (fun () -> Eio.Net.close socket);
    }
