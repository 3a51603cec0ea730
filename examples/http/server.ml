(* Accepts connections, and ends the service. [Concord_aio.run_server] does that for descriptors.
   Here each library accepts by its own sockets, so that its loop alone waits for them. *)

open Concord

(* The same error may occur a thousand times a second, so it is logged once a minute. *)
let once_a_minute log =
  let last = ref None in
  let is_recent since =
    Mtime.Span.is_shorter (Mtime_clock.count since) ~than:Mtime.Span.min
  in
  fun text ->
    if not (Option.fold !last ~none:false ~some:is_recent) then (
      last := Some (Mtime_clock.counter ());
      log text)

(* Waits before the next attempt, because accepting would fail again immediately while the
   cause lasts. *)
let rec accept (host : Host.t) ~stop ~complain =
  match host.accept ~unless:stop with
  | accepted -> accepted
  | exception Host.Cannot_accept reason ->
      complain ("cannot accept: " ^ reason);
      if Event.sync_before 0.1 stop = None then accept host ~stop ~complain
      else None

let run (t : Connection.config) ~max_connections ~grace (host : Host.t) handle =
  Printexc.record_backtrace true;
  let stop = Promise.await_evt t.drain in
  let complain = once_a_minute t.log in
  let slots = Semaphore.Counting.make max_connections in
  (* Each connection holds this lock for reading. So once the server holds it for writing, all
     connections have ended. *)
  let connections = Rwlock.create () in
  let serve (socket : Host.connection) =
    let close () =
      socket.close ();
      Rwlock.read_unlock connections;
      Semaphore.Counting.release slots
    in
    Fun.protect ~finally:close @@ fun () ->
    try Connection.serve t handle socket
    with e when not (Tasks.is_cancelled ()) -> t.log (Printexc.to_string e)
  in
  let next =
    Event.choose
      [
        Event.wrap stop (fun () -> None);
        Event.wrap (Semaphore.Counting.acquire_evt slots) (fun () ->
            accept host ~stop ~complain);
      ]
  in
  (* The first timeout starts a thread, which needs descriptors. So it is started now, before
     connections use them up. *)
  ignore (Event.sync_before 0.000_1 Event.never : unit option);
  let accepted_all = Promise.create () in
  (* The task of a connection first starts the task that accepts the next connection. A new
     task runs at once, so all waiting clients are accepted in one round. Otherwise, each round
     of all connections would accept only one client. *)
  let rec accept_next () =
    match Event.sync next with
    | None -> Promise.fill accepted_all ()
    | exception e -> Promise.fail accepted_all e
    | Some socket ->
        Rwlock.read_lock connections;
        host.fork accept_next;
        serve socket
  in
  host.fork accept_next;
  Promise.await accepted_all;
  host.close ();
  if Event.sync_before grace (Rwlock.write_lock_evt connections) = None then
    t.log (Printf.sprintf "requests were cut off after %g s" grace)
