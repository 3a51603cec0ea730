(* A scheduler in a task of a host. Only that task waits, and a cancellation reaches those inside. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

(* A task that sleeps leaves the domain to other threads, which one that yields may not do. Most
   conditions need no other thread, only some turns, and in a Domainslib pool each sleep takes
   50 ms. *)
let until (tasks : Test_host.tasks) what condition =
  let turns = ref 20 in
  let pause () =
    tasks.pause ();
    if !turns > 0 then decr turns else Tasks.sleep 1e-4
  in
  eventually ~pause what condition

let suspended (tasks : Test_host.tasks) =
  let p = Promise.create () and ended = Promise.create () in
  tasks.fork (fun () ->
      Fifo.run (fun () -> Promise.await p);
      Promise.fill ended ());
  until tasks "it waits" (fun () -> Promise.waiters p = 1);
  Promise.fill p ();
  Promise.await ended

let never_returns f ~cancel ~after =
  let returned = ref false in
  cancel
    (fun () ->
      f ();
      returned := true)
    ~after;
  no "run returned" !returned

let cancelled cancel tasks =
  let never = Promise.create () and unwound = Atomic.make 0 in
  let wait () =
    Fun.protect
      (fun () -> Promise.await never)
      ~finally:(fun () -> Atomic.incr unwound)
  in
  let run () =
    Fifo.run (fun () ->
        ignore (Fifo.fork wait : Fifo.handle);
        wait ())
  in
  never_returns run ~cancel ~after:(fun () ->
      until tasks "both wait" (fun () -> Promise.waiters never = 2));
  int "unwound" 2 (Atomic.get unwound);
  int "withdrawn" 0 (Promise.waiters never)

(* The task waits for a thread while it unwinds, so [run] must not end before. *)
let cancelled_slowly cancel tasks =
  let never = Promise.create () and unwound = Atomic.make false in
  let asked = Mvar.create_empty () and answer = Mvar.create_empty () in
  let join = thread (fun () -> Mvar.put answer (Mvar.take asked)) in
  let task () =
    try Promise.await never
    with Fifo.Cancelled ->
      Fifo.protect (fun () ->
          Mvar.put asked ();
          Mvar.take answer);
      Atomic.set unwound true
  in
  never_returns
    (fun () -> Fifo.run task)
    ~cancel
    ~after:(fun () ->
      until tasks "it waits" (fun () -> Promise.waiters never = 1));
  yes "unwound before" (Atomic.get unwound);
  join ()

let on (host : Test_host.t) =
  let test name f = test ("Fifo inside: " ^ name) (fun () -> host.run f) in
  let cancellations cancel =
    [
      test "its host cancels it" (cancelled cancel);
      test "cancelled, it waits for its tasks" (cancelled_slowly cancel);
    ]
  in
  test "only one task waits" suspended
  :: Option.fold host.cancel ~none:[] ~some:cancellations
