(* Operations that never have to wait must not stop the loop of a library of promises. *)

open Concord
open Concord_test_support

module Make (L : Promise_cases.LIBRARY) = struct
  module Cases = Promise_cases.Make (L)

  let ( let* ) = L.bind
  let ( let+ ) p f = L.map f p
  let ignored p = L.map ignore p

  (* If no other task uses the structures, these operations never have to wait, however often
     they are called. *)
  let operations () =
    let full = Mvar.create 1 and box = Mvar.create_empty () in
    let mailbox = Mailbox.create () and stream = Stream.create 1 in
    let closed : int Mailbox.t = Mailbox.create () in
    Mailbox.close closed;
    let news = Broadcast.create () in
    let subscription = Broadcast.subscribe news in
    let mutex = Mutex.create () and rwlock = Rwlock.create () in
    let counting = Semaphore.Counting.make 1 in
    let binary = Semaphore.Binary.make true in
    let latch = Latch.create 0 and barrier = Barrier.create 1 in
    let pool = Pool.create 1 ignore and closed_pool = Pool.create 1 ignore in
    Pool.close closed_pool;
    let jobs = Work_queue.create 1 in
    let forced = Lazy.from_val 1 in
    let failing = Lazy.from_fun (fun () -> raise Exit) in
    let promise = Promise.create () and failed = Promise.create () in
    Promise.fill promise 1;
    Promise.fail failed Exit;
    let fails expected f =
      L.map (fun e -> if e <> expected then raise e) (L.failure f)
    in
    let and_release release p = L.map release p in
    [
      ("Promise.await", fun () -> ignored (L.Promise.await promise));
      ( "Promise.await, failed",
        fun () -> fails Exit (fun () -> L.Promise.await failed) );
      ("Mvar.read", fun () -> ignored (L.Mvar.read full));
      ("Mvar.swap", fun () -> ignored (L.Mvar.swap full 1));
      ("Mvar.modify", fun () -> ignored (L.Mvar.modify full (fun v -> (v, v))));
      ( "Mvar.put",
        fun () ->
          let+ () = L.Mvar.put box 1 in
          ignore (Mvar.try_take box : int option) );
      ( "Mvar.take",
        fun () ->
          ignore (Mvar.try_put box 1 : bool);
          ignored (L.Mvar.take box) );
      ( "Stream.add",
        fun () ->
          let+ () = L.Stream.add stream 1 in
          ignore (Stream.try_take stream : int option) );
      ( "Stream.take",
        fun () ->
          ignore (Stream.try_add stream 1 : bool);
          ignored (L.Stream.take stream) );
      ( "Mailbox.take",
        fun () ->
          Mailbox.add mailbox 1;
          ignored (L.Mailbox.take mailbox) );
      ( "Mailbox.take, closed",
        fun () -> fails Mailbox.Closed (fun () -> L.Mailbox.take closed) );
      ( "Broadcast.send",
        fun () ->
          L.Broadcast.send news 1
          |> and_release (fun () ->
              ignore (Broadcast.receive subscription : int)) );
      ( "Broadcast.receive",
        fun () ->
          Broadcast.send news 1;
          ignored (L.Broadcast.receive subscription) );
      ( "Mutex.lock",
        fun () ->
          L.Mutex.lock mutex |> and_release (fun () -> Mutex.unlock mutex) );
      ("Mutex.with_lock", fun () -> L.Mutex.with_lock mutex L.return);
      ( "Rwlock.read_lock",
        fun () ->
          L.Rwlock.read_lock rwlock
          |> and_release (fun () -> Rwlock.read_unlock rwlock) );
      ( "Rwlock.write_lock",
        fun () ->
          L.Rwlock.write_lock rwlock
          |> and_release (fun () -> Rwlock.write_unlock rwlock) );
      ("Rwlock.read", fun () -> L.Rwlock.read rwlock L.return);
      ("Rwlock.write", fun () -> L.Rwlock.write rwlock L.return);
      ( "Semaphore.Counting.acquire",
        fun () ->
          L.Semaphore.Counting.acquire counting
          |> and_release (fun () -> Semaphore.Counting.release counting) );
      ( "Semaphore.Binary.acquire",
        fun () ->
          L.Semaphore.Binary.acquire binary
          |> and_release (fun () -> Semaphore.Binary.release binary) );
      ("Latch.await", fun () -> L.Latch.await latch);
      ( "Work_queue.add",
        fun () ->
          let+ ticket = L.Work_queue.add jobs 1 in
          ignore (Work_queue.withdraw ticket : bool) );
      ( "Work_queue.take",
        fun () ->
          ignore (Work_queue.try_add jobs 1 : _ Work_queue.ticket option);
          ignored (L.Work_queue.take jobs) );
      ("Pool.use", fun () -> L.Pool.use pool L.return);
      ( "Pool.obtain",
        fun () ->
          let* lease = L.Pool.obtain pool in
          L.Pool.give_back ~keep:true lease );
      ("Pool.await_closed", fun () -> L.Pool.await_closed closed_pool);
      ("Barrier.await", fun () -> L.Barrier.await barrier);
      ("Lazy.force", fun () -> ignored (L.Lazy.force forced));
      ( "Lazy.force, failed",
        fun () -> fails Exit (fun () -> L.Lazy.force failing) );
      ("sync", fun () -> L.sync (Event.always ()));
      ("sync, wrap", fun () -> L.sync (Event.wrap (Event.always ()) Fun.id));
      ("select", fun () -> L.select [ Event.always (); Event.never ]);
      ("sync_before", fun () -> ignored (L.sync_before 0. Event.never));
      ("direct", fun () -> L.direct ignore);
    ]

  (* --- Others continue ------------------------------------------------------ *)

  let patience = 10.

  (* Performs the operation again and again, until others have run. *)
  let again name operation have_gone_on =
    let deadline = Unix.gettimeofday () +. patience in
    let rec again () =
      if have_gone_on () then L.return ()
      else if Unix.gettimeofday () > deadline then
        Alcotest.failf "%s stops the loop" name
      else L.bind (operation ()) again
    in
    again ()

  (* Ends when its timer has run [n] times. *)
  let ticks n =
    let ticked = ref 0 in
    let rec tick () =
      if !ticked = n then L.return ()
      else
        let* () = L.sleep 0.0002 in
        incr ticked;
        tick ()
    in
    (tick (), fun () -> !ticked = n)

  (* Timers, and promises that another domain fulfils. *)
  let others_continue () =
    let each ((name, operation), (_, another)) =
      let ticking, ticked = ticks 2 in
      let p = Promise.create () in
      let woken = L.Promise.await p in
      let join = Check.domain (fun () -> Promise.fill p ()) in
      let timers = again name operation ticked
      and promise =
        again name another (fun () -> Option.is_some (L.peek woken))
      in
      let* () = timers in
      let* () = promise in
      let* () = ticking in
      join ();
      L.return ()
    in
    L.run (fun () ->
        Cases.iter each (List.combine (operations ()) (operations ())))
end
