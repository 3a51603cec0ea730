(* Each operation waits in Async, and tasks of each host wake it. *)

open Concord
open Concord_test_support
module A = Concord_async
module Deferred = Async.Deferred

let ( let* ) t f = Deferred.bind t ~f
let async f = Async.Thread_safe.block_on_async_exn f
let ignored t = Deferred.map t ~f:ignore

(* --- The wakers ----------------------------------------------------------- *)

let pooled f =
  let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
  Domainslib.Task.run pool (fun () ->
      Domainslib.Task.await pool (Domainslib.Task.async pool f));
  Domainslib.Task.teardown_pool pool

(* Runs [f], and fills or fails the promise. *)
let ending ended f () =
  match f () with
  | () -> Promise.fill ended ()
  | exception e -> Promise.fail ended e

(* [f] runs in a task of another domain, or at least of another thread. *)
let in_domain run f =
  let ended = Promise.create () in
  let domain = Domain.spawn (ending ended (fun () -> run f)) in
  let* () = A.to_deferred ended in
  Domain.join domain;
  Deferred.return ()

let in_thread f =
  let ended = Promise.create () in
  let thread = Thread.create (ending ended f) () in
  let* () = A.to_deferred ended in
  Thread.join thread;
  Deferred.return ()

let wakers =
  [
    ( "a job of Async",
      fun f ->
        let* () = Async.Scheduler.yield () in
        f ();
        Deferred.return () );
    ("Eio", in_domain (fun f -> Eio_main.run (fun _ -> f ())));
    ("Fifo", in_domain Concord_fifo.run);
    ("Domainslib", in_domain pooled);
    ("a domain", in_domain (fun f -> f ()));
    ("a thread", in_thread);
  ]

(* --- The operations ------------------------------------------------------- *)

(* The waiting operation, and the function that wakes it, in direct style. *)

let got expected t = Deferred.map t ~f:(fun v -> Check.int "value" expected v)

let promise () =
  let p = Promise.create () in
  (got 1 (A.Promise.await p), fun () -> Promise.fill p 1)

let mvar_take () =
  let m = Mvar.create_empty () in
  (got 1 (A.Mvar.take m), fun () -> Mvar.put m 1)

let mvar_read () =
  let m = Mvar.create_empty () in
  (got 1 (A.Mvar.read m), fun () -> Mvar.put m 1)

let mvar_put () =
  let m = Mvar.create 1 in
  (A.Mvar.put m 2, fun () -> assert (Mvar.take m = 1))

let mvar_swap () =
  let m = Mvar.create_empty () in
  (got 1 (A.Mvar.swap m 2), fun () -> Mvar.put m 1)

let mvar_modify () =
  let m = Mvar.create_empty () in
  (got 1 (A.Mvar.modify m (fun v -> (v + 1, v))), fun () -> Mvar.put m 1)

let channel_send () =
  let c = Channel.create () in
  (A.Channel.send c 1, fun () -> assert (Channel.receive c = 1))

let channel_receive () =
  let c = Channel.create () in
  (got 1 (A.Channel.receive c), fun () -> Channel.send c 1)

let stream_add () =
  let s = Stream.create 1 in
  Stream.add s 1;
  (A.Stream.add s 2, fun () -> assert (Stream.take s = 1))

let stream_take () =
  let s = Stream.create 1 in
  (got 1 (A.Stream.take s), fun () -> Stream.add s 1)

let mailbox () =
  let m = Mailbox.create () in
  (got 1 (A.Mailbox.take m), fun () -> Mailbox.add m 1)

let broadcast () =
  let b = Broadcast.create () in
  ( got 1 (A.Broadcast.receive (Broadcast.subscribe b)),
    fun () -> Broadcast.send b 1 )

let broadcast_send () =
  let b = Broadcast.create ~limit:(Wait 1) () in
  let s = Broadcast.subscribe b in
  assert (Broadcast.try_send b 1);
  (A.Broadcast.send b 2, fun () -> assert (Broadcast.receive s = 1))

let mutex () =
  let m = Mutex.create () in
  Mutex.lock m;
  (A.Mutex.lock m, fun () -> Mutex.unlock m)

let with_lock () =
  let m = Mutex.create () in
  Mutex.lock m;
  let f () =
    let* () = Async.Scheduler.yield () in
    Check.no "locked" (Mutex.try_lock m);
    Deferred.return 1
  in
  let t =
    let* () = got 1 (A.Mutex.with_lock m f) in
    Check.yes "unlocked" (Mutex.try_lock m);
    Deferred.return ()
  in
  (t, fun () -> Mutex.unlock m)

let condition () =
  let m = Mutex.create () and c = Condition.create () in
  Mutex.lock m;
  let wake () = Mutex.protect m (fun () -> Condition.signal c) in
  (A.Condition.wait c m, wake)

let counting () =
  let s = Semaphore.Counting.make 0 in
  (A.Semaphore.Counting.acquire s, fun () -> Semaphore.Counting.release s)

let binary () =
  let s = Semaphore.Binary.make false in
  (A.Semaphore.Binary.acquire s, fun () -> Semaphore.Binary.release s)

let read () =
  let l = Rwlock.create () in
  Rwlock.write_lock l;
  (A.Rwlock.read_lock l, fun () -> Rwlock.write_unlock l)

let write () =
  let l = Rwlock.create () in
  Rwlock.read_lock l;
  ( got 1 (A.Rwlock.write l (fun () -> Deferred.return 1)),
    fun () -> Rwlock.read_unlock l )

let barrier () =
  let b = Barrier.create 2 in
  (A.Barrier.await b, fun () -> Barrier.await b)

let latch () =
  let l = Latch.create 1 in
  (A.Latch.await l, fun () -> Latch.count_down l)

let work_add () =
  let t = Work_queue.create 1 in
  let ticket = Work_queue.add t 0 in
  ( Deferred.map (A.Work_queue.add t 1) ~f:(fun ticket ->
        Check.yes "it is in" (Work_queue.withdraw ticket)),
    fun () -> Check.yes "withdrawn" (Work_queue.withdraw ticket) )

let work_take () =
  let t = Work_queue.create 1 in
  ( got 1 (A.Work_queue.take t),
    fun () -> ignore (Work_queue.add t 1 : int Work_queue.ticket) )

let pool_use () =
  let pool = Pool.create 1 (fun () -> 0) in
  let taken = Pool.obtain pool in
  ( got 0 (A.Pool.use pool Deferred.return),
    fun () -> Pool.give_back ~keep:true taken )

let pool_obtain () =
  let pool = Pool.create 1 (fun () -> 0) in
  let taken = Pool.obtain pool in
  let obtained =
    let* lease = A.Pool.obtain pool in
    got 0 (Deferred.return (Pool.value lease))
  in
  (obtained, fun () -> Pool.give_back ~keep:true taken)

let pool_closed () =
  let pool = Pool.create 1 ignore in
  (A.Pool.await_closed pool, fun () -> Pool.close pool)

let lazy_ () =
  let p = Promise.create () and runs = ref 0 in
  let t =
    Lazy.from_fun (fun () ->
        incr runs;
        Promise.await p)
  in
  let forced = A.Lazy.force t in
  let both =
    let* () = got 1 forced in
    Check.int "runs" 1 !runs;
    got 1 (A.Lazy.force t)
  in
  (both, fun () -> Promise.fill p 1)

let select () =
  let a = Mvar.create_empty () and b = Mvar.create_empty () in
  let t =
    let* () = got 1 (A.select [ Mvar.take_evt a; Mvar.take_evt b ]) in
    Check.int "no task waits for the other" 0 (Mvar.waiters a);
    Deferred.return ()
  in
  (t, fun () -> Mvar.put b 1)

let in_time () =
  let m = Mvar.create_empty () in
  ( Deferred.map
      (A.sync_before 100. (Mvar.take_evt m))
      ~f:(fun v -> Check.yes "in time" (v = Some 1)),
    fun () -> Mvar.put m 1 )

let direct () =
  let there = Channel.create () and back = Channel.create () in
  let t =
    A.direct (fun () ->
        for i = 1 to 100 do
          Channel.send there i;
          Check.int "answer" (-i) (Channel.receive back)
        done)
  in
  let echo () =
    A.direct (fun () ->
        for _ = 1 to 100 do
          Channel.send back (-Channel.receive there)
        done)
  in
  let answer () =
    if Async.Thread_safe.am_holding_async_lock () then
      ignore (echo () : unit Deferred.t)
    else
      for _ = 1 to 100 do
        Channel.send back (-Channel.receive there)
      done
  in
  (t, answer)

let operations =
  [
    ("promise", promise);
    ("mvar, take", mvar_take);
    ("mvar, read", mvar_read);
    ("mvar, put", mvar_put);
    ("mvar, swap", mvar_swap);
    ("mvar, modify", mvar_modify);
    ("channel, send", channel_send);
    ("channel, receive", channel_receive);
    ("stream, add", stream_add);
    ("stream, take", stream_take);
    ("mailbox", mailbox);
    ("broadcast", broadcast);
    ("broadcast, send", broadcast_send);
    ("mutex", mutex);
    ("mutex, with_lock", with_lock);
    ("condition", condition);
    ("semaphore, counting", counting);
    ("semaphore, binary", binary);
    ("rwlock, read", read);
    ("rwlock, write", write);
    ("barrier", barrier);
    ("latch", latch);
    ("work queue, add", work_add);
    ("work queue, take", work_take);
    ("pool, use", pool_use);
    ("pool, await_closed", pool_closed);
    ("lazy", lazy_);
    ("select", select);
    ("sync_before", in_time);
    ("direct", direct);
  ]

let cell operation waker () =
  async @@ fun () ->
  let waits, wake = operation () in
  Check.no "it waits" (Deferred.is_determined waits);
  let woken = waker wake in
  let* () = waits in
  woken

let tests =
  List.map
    (fun (waker_name, waker) ->
      ( "woken by " ^ waker_name,
        List.map
          (fun (name, operation) -> Check.test name (cell operation waker))
          operations ))
    wakers
