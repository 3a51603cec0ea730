(* Tasks whose messages are served in the same cycle in which they wait. Jobs of the cycle send
   some of these messages, and others come from outside while the scheduler spins. *)

open Concord
open Concord_test_support
open Check
open In_async
module Scheduler = Async.Scheduler
module Monitor = Async.Monitor
module Ivar = Async.Ivar
module Inbox = Concord_async__Inbox
module Spin = Concord__core__Spin

(* Whether [t], which isn't determined yet, becomes determined in the same cycle. *)
let in_this_cycle t =
  assert (not (Deferred.is_determined t));
  let cycle = Scheduler.cycle_count () in
  Deferred.map t ~f:(fun _ -> Scheduler.cycle_count () = cycle)

let at_the_start_of_a_cycle f () =
  async @@ fun () ->
  let* () = Scheduler.yield () in
  f ()

let in_other_domain = Check.in_domain
let pause () = Async.Clock.after (Core.Time_float.Span.of_sec 0.002)

(* --- From jobs ------------------------------------------------------------------- *)

let from_a_job =
  at_the_start_of_a_cycle @@ fun () ->
  let p = Promise.create () in
  let woken = in_this_cycle (A.Promise.await p) in
  Promise.fill p ();
  Deferred.map woken ~f:(yes "at once")

(* Each task is woken by the one before it, and none waits again. *)
let a_chain =
  at_the_start_of_a_cycle @@ fun () ->
  let promises = Array.init 10 (fun _ -> Promise.create ()) in
  let wait i p =
    let woken = in_this_cycle (A.Promise.await p) in
    Deferred.map woken ~f:(fun at_once ->
        yes "at once" at_once;
        if i < 9 then Promise.fill promises.(i + 1) ())
  in
  let all = Array.to_list (Array.mapi wait promises) in
  Promise.fill promises.(0) ();
  Deferred.all_unit all

(* The task has been waiting since an earlier cycle. *)
let long_since =
  at_the_start_of_a_cycle @@ fun () ->
  let p = Promise.create () in
  let t = A.Promise.await p in
  let* () = Scheduler.yield () in
  let woken = in_this_cycle t in
  Promise.fill p ();
  Deferred.map woken ~f:(yes "at once")

(* --- While it looks -------------------------------------------------------------- *)

(* A spin ends only when a message comes. So if the scheduler spins where it should not, the
   test doesn't end. *)
let spinning f =
  Spin.limit Inbox.spin max_int;
  Monitor.protect f ~finally:(fun () ->
      Spin.limit Inbox.spin 1_000;
      Deferred.return ())

(* [f ()] runs in the first cycle, for which a domain has posted [job]. So the scheduler expects
   a message. *)
let after_a_message job f () =
  in_other_domain (fun () -> ignore (A.post job : unit Promise.t));
  at_the_start_of_a_cycle f ()

(* A message of the other domain comes while the scheduler spins, whenever that domain gets a
   processor. But the cycle ends if it has been long by then. *)
let from_a_domain =
  after_a_message Deferred.return @@ fun () ->
  let box = Mvar.create_empty () and ended = Atomic.make false in
  let put () =
    while not (Atomic.get ended) do
      if Mvar.waiters box > 0 then Mvar.put box () else Thread.yield ()
    done
  in
  let other = in_domain (fun f -> f ()) put in
  let rec take n =
    if n = 0 then begin
      Atomic.set ended true;
      Deferred.return ()
    end
    else
      let began = Scheduler.cycle_start () in
      let* at_once = in_this_cycle (A.Mvar.take box) in
      let lasted = Core.Time_float.(Span.to_sec (diff (now ()) began)) in
      yes "at once, or the cycle was long" (at_once || lasted > 0.01);
      take (if at_once then n - 1 else n)
  in
  let* () = spinning (fun () -> take 10) in
  other

(* The tasks of Async wake each other, and no other domain sends anything. *)
let not_for_its_own =
  at_the_start_of_a_cycle @@ fun () ->
  let p = Promise.create () and box = Mvar.create_empty () in
  let* () = in_domain (fun f -> f ()) ignore in
  Spin.limit Inbox.spin 0;
  let* () = pause () in
  let wait = A.Promise.await p and take = A.Mvar.take box in
  spinning @@ fun () ->
  let* () = pause () in
  Mvar.put box ();
  let* () = take in
  let* () = pause () in
  Promise.fill p ();
  wait

(* The job waits for a timer, which is served only if the scheduler doesn't spin. *)
let not_while_a_job_runs () =
  let ended = Ivar.create () in
  let job () =
    spinning @@ fun () ->
    let* () = pause () in
    Ivar.fill_exn ended ();
    Deferred.return ()
  in
  after_a_message job (fun () -> Ivar.read ended) ()

(* --- When it does not look any more ---------------------------------------------- *)

(* The puts come before, while and after the scheduler stops spinning. *)
let nothing_is_lost () =
  async @@ fun () ->
  let rounds = if Race.long then 100_000 else 2_000 in
  let box = Mvar.create_empty () in
  let put () =
    for i = 1 to rounds do
      while Mvar.waiters box = 0 do
        Domain.cpu_relax ()
      done;
      for _ = 1 to 7 * i mod 1_000 do
        Domain.cpu_relax ()
      done;
      Mvar.put box i
    done
  in
  let other = in_domain (fun f -> f ()) put in
  let rec take i =
    if i > rounds then other
    else
      let* v = A.Mvar.take box in
      int "the next one" i v;
      take (i + 1)
  in
  take 1

(* A task waits all the time, and Async must still sleep. *)
let sleeps () =
  async @@ fun () ->
  let p = Promise.create () in
  let waits = A.Promise.await p in
  let* () = in_domain (fun f -> f ()) ignore in
  let before = Scheduler.cycle_count () in
  let* () = Async.Clock.after (Core.Time_float.Span.of_sec 0.05) in
  yes "sleeps" (Scheduler.cycle_count () - before < 100);
  Promise.fill p ();
  waits

(* --- Others ---------------------------------------------------------------------- *)

(* The other domain answers until the other tasks of Async have run. *)
let while_it_looks others () =
  async @@ fun () ->
  let ping = Mvar.create_empty () and pong = Mvar.create_empty () in
  let rec answer () =
    let go_on = Mvar.take ping in
    Mvar.put pong ();
    if go_on then answer ()
  in
  let other = in_domain (fun f -> f ()) answer and have_gone_on = others () in
  let rec ask () =
    let go_on = not (Deferred.is_determined have_gone_on) in
    let* () = A.Mvar.put ping go_on in
    let* () = A.Mvar.take pong in
    if go_on then ask () else Deferred.return ()
  in
  let* () = ask () in
  other

let threads () = Async.In_thread.run (fun () -> Thread.delay 0.001)

let low_jobs () =
  Async.Scheduler.schedule' ~priority:Async.Priority.low (fun () ->
      Deferred.return ())

let yields () =
  let rec loop n =
    if n = 0 then Deferred.return ()
    else
      let* () = Scheduler.yield () in
      loop (n - 1)
  in
  loop 1_000

(* Each task computes, and wakes the next one. *)
let beside_a_chain =
  at_the_start_of_a_cycle @@ fun () ->
  let woken = ref 0 and tasks = 60 in
  let promises = Array.init (tasks + 1) (fun _ -> Promise.create ()) in
  let wait i =
    let* () = A.Promise.await promises.(i) in
    incr woken;
    let until = Unix.gettimeofday () +. 0.001 in
    while Unix.gettimeofday () < until do
      Domain.cpu_relax ()
    done;
    Promise.fill promises.(i + 1) ();
    Deferred.return ()
  in
  let all = Deferred.all_unit (List.init tasks wait) in
  Promise.fill promises.(0) ();
  let* () = pause () in
  yes "before the last task" (!woken < tasks);
  all

let suites =
  [
    ( "served in the cycle of the wait",
      [
        test "a message from a job" from_a_job;
        test "a chain" a_chain;
        test "a task that has waited for long" long_since;
        test "a message from a domain" from_a_domain;
      ] );
    ( "it doesn't spin",
      [
        test "for its own tasks" not_for_its_own;
        test "while a posted job runs" not_while_a_job_runs;
      ] );
    ( "after spinning",
      [ test "nothing is lost" nothing_is_lost; test "it sleeps" sleeps ] );
    ( "others continue while it spins",
      [
        test "timers" (while_it_looks pause);
        test "threads" (while_it_looks threads);
        test "jobs of low priority" (while_it_looks low_jobs);
        test "jobs that yield" (while_it_looks yields);
        test "timers, beside tasks that compute" beside_a_chain;
      ] );
  ]
