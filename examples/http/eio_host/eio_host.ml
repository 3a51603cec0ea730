(* The host of the server on Eio. Each connection has two fibers: one serves it, and one
   watches its deadline. If a connection is read and written at the same time, it has a second
   deadline. *)

open Eio.Std
open Http_service
open Http_service.Host

(* --- The deadline of a connection --- *)

(* One fiber per connection watches the deadline, because a fiber and a timeout for each read
   and write would cost more than the operation itself. The fiber sleeps until the earliest
   time at which an operation may have to be cancelled. By then there is usually a newer limit,
   and the fiber sleeps until that one. It is woken early only for a limit before the end of
   its sleep. *)

type deadline = {
  mutable limit : Limit.t;  (** The limit of the last operation. *)
  mutable wake : Mtime.t;  (** When the fiber wakes. *)
  mutable operation : Eio.Cancel.t option;  (** The operation in progress. *)
  mutable closed : bool;
  changed : unit Concord.Bvar.t;  (** Wakes the fiber now. *)
}

exception Reached

let wake_now t = Concord.Bvar.broadcast t.changed ()

let rec watch t =
  let drain = t.limit.drain in
  let events = [ Limit.at t.wake; Concord.Bvar.wait_evt t.changed ] in
  Concord.Event.select
    (if Concord.Promise.is_resolved drain then events
     else Concord.Promise.await_evt drain :: events);
  if not t.closed then (
    if Limit.is_reached t.limit then (
      Option.iter (fun context -> Eio.Cancel.cancel context Reached) t.operation;
      t.wake <- Mtime.max_stamp)
    else if Limit.is_past t.wake then t.wake <- t.limit.due;
    watch t)

let with_deadline ~sw =
  let t =
    {
      limit = Limit.never;
      wake = Mtime.max_stamp;
      operation = None;
      closed = false;
      changed = Concord.Bvar.create ();
    }
  in
  Fiber.fork_daemon ~sw (fun () ->
      watch t;
      `Stop_daemon);
  t

(* If the limit has been reached already, the operation is cancelled too, but only after it has
   taken the data that is there. *)
let within t (limit : Limit.t) f =
  t.limit <- limit;
  if Mtime.is_earlier limit.due ~than:t.wake then (
    t.wake <- limit.due;
    wake_now t)
  else if Limit.is_drained limit then wake_now t;
  let run context =
    t.operation <- Some context;
    f ()
  and finally () = t.operation <- None in
  match Fun.protect ~finally (fun () -> Eio.Cancel.sub run) with
  | v -> Some v
  | exception Eio.Cancel.Cancelled Reached -> None

(* --- Connections --- *)

let connection ~sw socket =
  let buffer = Cstruct.create 4096 and deadline = with_deadline ~sw in
  let second = lazy (with_deadline ~sw) in
  let within limit f =
    match deadline.operation with
    | None -> within deadline limit f
    | Some _ -> within (Lazy.force second) limit f
  in
  let close deadline =
    deadline.closed <- true;
    wake_now deadline
  in
  {
    read =
      (fun ~limit ->
        match within limit (fun () -> Eio.Flow.single_read socket buffer) with
        | Some length -> Some (Cstruct.to_string buffer ~len:length)
        | None -> None
        | exception (End_of_file | Eio.Io _) -> Some "");
    write =
      (fun ~limit text ->
        match within limit (fun () -> Eio.Flow.copy_string text socket) with
        | Some () -> true
        | None | (exception Eio.Io _) -> false);
    shutdown =
      (fun () -> try Eio.Flow.shutdown socket `Send with Eio.Io _ -> ());
    close =
      (fun () ->
        close deadline;
        if Lazy.is_val second then close (Lazy.force second);
        Eio.Net.close socket);
  }

(* With the delay (Nagle's algorithm), an answer could wait until the client acknowledges the
   previous one. *)
let set_no_delay socket =
  try Eio.Net.(setsockopt socket Sockopt.TCP_NODELAY true) with Eio.Io _ -> ()

let accept ~sw socket ~unless =
  let stop () =
    Concord.Event.sync unless;
    None
  in
  match Fiber.first (fun () -> Some (Eio.Net.accept ~sw socket)) stop with
  | Some (client, _address) ->
      set_no_delay client;
      Some (connection ~sw client)
  | None -> None
  | exception Eio.Io (Eio.Exn.X (Eio_unix.Unix_error (error, _, _)), _) ->
      raise (Cannot_accept (Unix.error_message error))
  | exception Unix.Unix_error (error, _, _) ->
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
