(* Programs that are broken in the ways in which users' programs are, a mode for each. The
   first argument is the mode. A program prints [ready] when its fault has happened. It doesn't
   prepare itself for diagnosis, so a test can start it plainly, or with [CONCORD_DEBUG].

   Functions don't end in the call that waits, so their frames stay on the stack. *)

open Concord
open Concord.Tools

let say text =
  print_endline text;
  flush stdout

let rec until condition =
  if not (condition ()) then begin
    Thread.delay 0.001;
    until condition
  end

let thread f = ignore (Thread.create f () : Thread.t)

(* Says so from a thread of its own, because the others hang. *)
let ready_when condition =
  thread (fun () ->
      until condition;
      say "ready")

let sleep () = Thread.delay 60.

let compute () =
  while true do
    ignore (Sys.opaque_identity 0)
  done

let in_eio f = Eio_main.run (fun _ -> f ())

let with_pool ?(domains = 1) f =
  in_eio (fun () -> Workers.with_workers ~name:"pool" ~domains f)

let mutex name = Debug.named name (Mutex.create ())

(* --- Locks ------------------------------------------------------------------- *)

let[@inline never] locks_both first second meet =
  Mutex.protect first (fun () ->
      Barrier.await meet;
      Mutex.lock second;
      Mutex.unlock second);
  ()

let inverted between =
  let accounts = mutex "accounts" and journal = mutex "journal" in
  let meet = Barrier.create 2 in
  ready_when (fun () -> Mutex.waiters accounts + Mutex.waiters journal = 2);
  between
    (fun () -> locks_both accounts journal meet)
    (fun () -> locks_both journal accounts meet)

let eio_and_pool one other =
  with_pool (fun pool ->
      let submitted = Workers.submit pool other in
      one ();
      Promise.await submitted)

let lwt_and_thread one other =
  thread other;
  Concord_lwt.run (fun () -> Concord_lwt.direct one)

let[@inline never] reads_twice table meet =
  Rwlock.read table (fun () ->
      Barrier.await meet;
      until (fun () -> Rwlock.waiters table = 1);
      Rwlock.read_lock table;
      Rwlock.read_unlock table);
  ()

let reads_again () =
  let table = Debug.named "table" (Rwlock.create ()) in
  let meet = Barrier.create 2 in
  ready_when (fun () -> Rwlock.waiters table = 2);
  thread (fun () ->
      Barrier.await meet;
      Rwlock.write table ignore;
      ());
  reads_twice table meet

(* Ten tasks use what is slow behind one lock. *)
let convoy () =
  let cache = mutex "cache" in
  ready_when (fun () -> Mutex.waiters cache = 9);
  let[@inline never] looks_up () =
    Mutex.protect cache (fun () -> Eio_unix.sleep 60.);
    ()
  in
  in_eio (fun () -> Eio.Fiber.all (List.init 10 (fun _ -> looks_up)))

(* --- Lazy values --------------------------------------------------------------- *)

let forced_in_itself elsewhere =
  let cell = ref None in
  let[@inline never] force () =
    let n = Lazy.force (Option.get !cell) in
    n + 1
  in
  let config =
    Debug.named "config" (Lazy.from_fun (fun () -> elsewhere force))
  in
  cell := Some config;
  ready_when (fun () -> Lazy.waiters config = 1);
  ignore (force () : int)

let lazy_through_a_job () =
  with_pool (fun pool ->
      forced_in_itself (fun force ->
          let n = Workers.run pool force in
          n + 1))

let lazy_on_itself () =
  in_eio (fun () ->
      forced_in_itself (fun force ->
          let n, () = Tasks.both force ignore in
          n + 1))

(* --- A pool of workers ---------------------------------------------------------- *)

(* Each job waits for the result of the other one. *)
let jobs_for_jobs () =
  with_pool (fun pool ->
      let second = Promise.create ~name:"second" () in
      let both_wait = Atomic.make 0 in
      let[@inline never] job other () =
        Atomic.incr both_wait;
        Promise.await (other ());
        ()
      in
      let first = Workers.submit pool (job (fun () -> Promise.await second)) in
      Promise.fill second (Workers.submit pool (job (fun () -> first)));
      ready_when (fun () -> Atomic.get both_wait = 2);
      Promise.await first;
      say "the jobs ended")

let computing_job () =
  with_pool (fun pool ->
      let[@inline never] render () =
        say "ready";
        compute ()
      in
      let image = Workers.submit pool render in
      Promise.await (Debug.named "image" image);
      say "rendered")

(* --- Loops that stand still --------------------------------------------------------- *)

(* A fiber is woken, but the loop doesn't run it, because of the fiber that wakes it. *)
let stands_still block =
  let box = Mvar.create_empty ~name:"box" ()
  and go = Promise.create ~name:"go" () in
  in_eio (fun () ->
      let[@inline never] takes () =
        Mvar.take box;
        ()
      and[@inline never] blocks () =
        Promise.await go;
        Mvar.put box ();
        block ();
        ()
      in
      Eio.Fiber.all [ takes; blocks; Promise.fill go ])

let busy_eio () =
  stands_still (fun () ->
      say "ready";
      compute ())

let joins_in_eio () =
  stands_still (fun () ->
      let other = Thread.create sleep () in
      say "ready";
      Thread.join other)

let blocked_lwt () =
  let box = Concord_lwt.Mvar.create_empty () in
  ignore (Debug.named "box" box);
  Concord_lwt.run (fun () ->
      let[@inline never] takes () =
        Concord_lwt.direct (fun () ->
            Mvar.take box;
            ())
      in
      let taken = takes () in
      Lwt.bind (Lwt.pause ()) (fun () ->
          Mvar.put box ();
          say "ready";
          sleep ();
          taken))

(* --- Resources --------------------------------------------------------------------- *)

let resources n =
  let next = Atomic.make 0 in
  Pool.create ~name:"connections" n (fun () -> Atomic.fetch_and_add next 1)

let each_needs_two () =
  let pool = resources 2 and meet = Barrier.create 2 in
  ready_when (fun () -> Pool.waiters pool = 2);
  let[@inline never] transfers () =
    Pool.use pool (fun one ->
        Barrier.await meet;
        Pool.use pool (fun other -> ignore (one + other));
        ());
    ()
  in
  in_eio (fun () -> Eio.Fiber.both transfers transfers)

(* A task keeps what it was lent. *)
let never_given_back () =
  let pool = resources 1 in
  ready_when (fun () -> Pool.waiters pool = 2);
  let[@inline never] streams () =
    Pool.use pool (fun _ -> Eio_unix.sleep 60.);
    ()
  and[@inline never] queries () =
    Pool.use pool ignore;
    ()
  in
  in_eio (fun () -> Eio.Fiber.all [ streams; queries; queries ])

(* An error path returns without giving the permit back. *)
let leaked_permit () =
  let permits = Debug.named "permits" (Semaphore.Counting.make 2) in
  ready_when (fun () -> Semaphore.Counting.waiters permits = 1);
  let[@inline never] fetches fails () =
    Semaphore.Counting.acquire permits;
    if not fails then Semaphore.Counting.release permits
  in
  in_eio (fun () ->
      List.iter (fun fails -> fetches fails ()) [ true; false; true; false ])

let two_permits () =
  let permits = Debug.named "permits" (Semaphore.Counting.make 2) in
  let meet = Barrier.create 2 in
  ready_when (fun () -> Semaphore.Counting.waiters permits = 2);
  let[@inline never] copies () =
    Semaphore.Counting.with_permit permits (fun () ->
        Barrier.await meet;
        Semaphore.Counting.with_permit permits ignore;
        ());
    ()
  in
  in_eio (fun () -> Eio.Fiber.both copies copies)

(* The same, but one more permit is out, and will come back. *)
let two_of_three () =
  let permits = Debug.named "permits" (Semaphore.Counting.make 3) in
  Semaphore.Counting.acquire permits;
  let meet = Barrier.create 2 in
  ready_when (fun () -> Semaphore.Counting.waiters permits = 2);
  let[@inline never] copies () =
    Semaphore.Counting.with_permit permits (fun () ->
        Barrier.await meet;
        Semaphore.Counting.with_permit permits ignore;
        ());
    ()
  in
  in_eio (fun () -> Eio.Fiber.both copies copies)

(* --- Values that don't come ------------------------------------------------------------ *)

(* The signal came before the wait, because no flag says that it came. *)
let lost_wakeup () =
  let mutex = mutex "mutex" and arrived = Condition.create () in
  ignore (Debug.named "arrived" arrived);
  ready_when (fun () -> Condition.waiters arrived = 1);
  let[@inline never] waits () =
    Mutex.protect mutex (fun () ->
        Condition.wait arrived mutex;
        ());
    ()
  in
  in_eio (fun () ->
      Condition.signal arrived;
      waits ())

let unfilled () =
  let answer = Promise.create ~name:"answer" () in
  ready_when (fun () -> Promise.waiters answer = 1);
  let[@inline never] asks () =
    Promise.await answer;
    ()
  in
  in_eio asks

(* The loops of the two domains wait for messages and for the end. *)
let beside_loops () =
  let answer = Promise.create ~name:"answer" () in
  ready_when (fun () -> Promise.waiters answer = 1);
  let[@inline never] asks () =
    Promise.await answer;
    ()
  in
  Concord_lwt.with_domain Lwt.return (fun lwt ->
      Concord_eio.with_domain Eio_main.run
        (fun ~sw:_ _ -> ())
        (fun eio ->
          Concord_lwt.call lwt Lwt.return;
          Concord_eio.call eio ignore;
          asks ());
      say "the loop of Eio ended");
  say "the loop of Lwt ended"

(* The fiber has no frame left, because its only call was the last one. *)
let tail_call () =
  let answer = Promise.create ~name:"answer" () in
  ready_when (fun () -> Promise.waiters answer = 1);
  in_eio (fun () ->
      Eio.Fiber.both (fun () -> Promise.await answer) Eio.Fiber.yield;
      ())

let dead_consumer () =
  let jobs = Debug.named "jobs" (Stream.create 2) in
  ready_when (fun () -> Stream.waiters jobs = 1);
  let[@inline never] consumes () = ignore (10 / Stream.take jobs : int)
  and[@inline never] produces () =
    List.iter (Stream.add jobs) [ 0; 1; 2; 3; 4 ];
    ()
  in
  in_eio (fun () ->
      Eio.Fiber.both
        (fun () -> try consumes () with Division_by_zero -> ())
        produces)

let stuck_in_protect () =
  let flushed = Promise.create ~name:"flushed" () in
  ready_when (fun () -> Promise.waiters flushed = 1);
  let[@inline never] stops () =
    Eio.Cancel.protect (fun () ->
        Promise.await flushed;
        ());
    ()
  in
  in_eio (fun () ->
      Eio.Fiber.first
        (fun () -> Fun.protect ~finally:stops Eio.Fiber.await_cancel)
        ignore)

let lagging_subscriber () =
  let news = Broadcast.create ~name:"news" ~limit:(Wait 2) () in
  ready_when (fun () -> Broadcast.senders news = 1);
  let both_have_one = Barrier.create 3 in
  let[@inline never] lags () =
    Broadcast.with_subscription news (fun subscription ->
        Barrier.await both_have_one;
        ignore (Broadcast.receive subscription : int);
        Eio_unix.sleep 60.);
    ()
  and[@inline never] follows () =
    Broadcast.with_subscription news (fun subscription ->
        Barrier.await both_have_one;
        Broadcast.iter (fun (_ : int) -> ()) subscription);
    ()
  and[@inline never] sends () =
    Barrier.await both_have_one;
    List.iter (Broadcast.send news) [ 1; 2; 3; 4; 5 ];
    ()
  in
  in_eio (fun () -> Eio.Fiber.all [ lags; follows; sends ])

(* The task that subscribed waits for the sender. But the subscription is read by another task,
   which will continue. *)
let subscribed_for_another () =
  let news = Broadcast.create ~name:"news" ~limit:(Wait 2) () in
  let log = mutex "log" in
  ready_when (fun () -> Broadcast.senders news + Mutex.waiters log = 2);
  let[@inline never] sends () =
    Mutex.protect log (fun () ->
        List.iter (Broadcast.send news) [ 1; 2; 3; 4; 5 ]);
    ()
  in
  let[@inline never] subscribes sw =
    Broadcast.with_subscription news (fun subscription ->
        Eio.Fiber.fork ~sw (fun () ->
            Eio_unix.sleep 60.;
            ignore (Broadcast.receive subscription : int));
        Eio.Fiber.fork ~sw sends;
        Mutex.lock log);
    ()
  in
  in_eio (fun () -> Eio.Switch.run subscribes)

let growing_mailbox () =
  let events = Mailbox.create ~name:"events" () in
  in_eio (fun () ->
      for i = 1 to 1_000 do
        Mailbox.add events i
      done;
      say "ready";
      Eio_unix.sleep 60.;
      ignore (Mailbox.take events : int))

(* The program's own structure drops a resumer. *)
let leaked_continuation () =
  let[@inline never] waits () =
    let () = Suspend.suspend (fun _ -> None) in
    ()
  in
  in_eio (fun () ->
      Eio.Fiber.both waits (fun () ->
          say "ready";
          Eio_unix.sleep 60.))

(* --- A service of which only a part hangs ------------------------------------------------ *)

let partly_blocked () =
  let accounts = mutex "accounts" and requests = Atomic.make 0 in
  let ping = Mvar.create_empty ~name:"ping" ()
  and pong = Mvar.create_empty ~name:"pong" () in
  ready_when (fun () -> Mutex.waiters accounts = 1 && Atomic.get requests > 100);
  let[@inline never] keeps () =
    Mutex.protect accounts (fun () -> Eio_unix.sleep 60.);
    ()
  and[@inline never] needs () =
    Mutex.protect accounts ignore;
    ()
  and[@inline never] serves () =
    while true do
      Mvar.put pong (Mvar.take ping)
    done
  and[@inline never] asks () =
    while true do
      Mvar.put ping ();
      Mvar.take pong;
      Atomic.incr requests
    done
  in
  in_eio (fun () -> Eio.Fiber.all [ keeps; needs; serves; asks ])

let modes =
  [
    ("inversion, Eio and pool", fun () -> inverted eio_and_pool);
    ("inversion, Lwt and thread", fun () -> inverted lwt_and_thread);
    ("reads again behind a writer", reads_again);
    ("lazy through a job", lazy_through_a_job);
    ("lazy on itself", lazy_on_itself);
    ("jobs wait for jobs", jobs_for_jobs);
    ("computing job", computing_job);
    ("busy loop in Eio", busy_eio);
    ("Thread.join in Eio", joins_in_eio);
    ("each needs two resources", each_needs_two);
    ("each needs two permits", two_permits);
    ("two of three permits", two_of_three);
    ("resource never given back", never_given_back);
    ("leaked permit", leaked_permit);
    ("lost wake-up", lost_wakeup);
    ("promise nobody fills", unfilled);
    ("beside loops", beside_loops);
    ("tail call", tail_call);
    ("dead consumer", dead_consumer);
    ("stuck in protect", stuck_in_protect);
    ("lagging subscriber", lagging_subscriber);
    ("subscribed for another", subscribed_for_another);
    ("convoy", convoy);
    ("blocked Lwt loop", blocked_lwt);
    ("growing mailbox", growing_mailbox);
    ("leaked continuation", leaked_continuation);
    ("partly blocked", partly_blocked);
  ]

let () =
  match Sys.argv with
  | [| _; mode |] when List.mem_assoc mode modes -> (List.assoc mode modes) ()
  | _ ->
      List.iter (fun (mode, _) -> print_endline mode) modes;
      exit 2
