(* Tasks whose messages are served in the same cycle in which they wait. Jobs of the cycle send
   some of these messages, and others come from outside while the scheduler spins. *)

open Concord
open Concord_test_support
open Check
open Wakers
module Scheduler = Async.Scheduler
module Inbox = Concord_async__Inbox
module Spin = Concord__Spin

(* Whether [t], which isn't determined yet, becomes determined in the same cycle. *)
let in_this_cycle t =
  assert (not (Deferred.is_determined t));
  let cycle = Scheduler.cycle_count () in
  Deferred.map t ~f:(fun _ -> Scheduler.cycle_count () = cycle)

let at_the_start_of_a_cycle f =
  async @@ fun () ->
  let* () = Scheduler.yield () in
  f ()

(* --- From jobs ------------------------------------------------------------------- *)

let from_a_job () =
  at_the_start_of_a_cycle @@ fun () ->
  let p = Promise.create () in
  let woken = in_this_cycle (A.Promise.await p) in
  Promise.fill p ();
  Deferred.map woken ~f:(yes "at once")

(* Each task is woken by the one before it, and none waits again. *)
let a_chain () =
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
let long_since () =
  at_the_start_of_a_cycle @@ fun () ->
  let p = Promise.create () in
  let t = A.Promise.await p in
  let* () = Scheduler.yield () in
  let woken = in_this_cycle t in
  Promise.fill p ();
  Deferred.map woken ~f:(yes "at once")

(* --- While it looks -------------------------------------------------------------- *)

(* Here the scheduler never stops spinning. So a message of the other domain comes while it
   spins, whenever that domain gets a processor. *)
let from_a_domain () =
  async @@ fun () ->
  let box = Mvar.create_empty () and rounds = 10 in
  let put () =
    for _ = 1 to rounds do
      while Mvar.waiters box = 0 do
        Thread.yield ()
      done;
      Mvar.put box ()
    done
  in
  let other = in_domain (fun f -> f ()) put in
  Spin.limit Inbox.spin max_int;
  let rec take n =
    if n = 0 then Deferred.return ()
    else
      let* at_once = in_this_cycle (A.Mvar.take box) in
      yes "at once" at_once;
      take (n - 1)
  in
  let* () = take rounds in
  Spin.limit Inbox.spin 1_000;
  other

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

let timers () = Async.Clock.after (Core.Time_float.Span.of_sec 0.002)
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

let suites =
  [
    ( "served in the cycle of the wait",
      [
        test "a message from a job" from_a_job;
        test "a chain" a_chain;
        test "a task that has waited for long" long_since;
        test "a message from a domain" from_a_domain;
      ] );
    ( "after spinning",
      [ test "nothing is lost" nothing_is_lost; test "it sleeps" sleeps ] );
    ( "others continue while it spins",
      [
        test "timers" (while_it_looks timers);
        test "threads" (while_it_looks threads);
        test "jobs of low priority" (while_it_looks low_jobs);
        test "jobs that yield" (while_it_looks yields);
      ] );
  ]
