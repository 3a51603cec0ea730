(* Tasks of other hosts in Picos's structures: each case runs in a fiber that is a task of
   some host. On the other side are fibers of Picos in another domain. *)

open Picos
open Picos_std_structured
module P = Picos_std_sync
module Ev = Picos_std_event.Event
open Concord_test_support.Check

let elsewhere f = domain (fun () -> Schedulers.fifo.run f)

exception Boom

(* --- Structures -------------------------------------------------------------- *)

(* A box of one place. *)
let mutex_and_condition () =
  let mutex = P.Mutex.create () and changed = P.Condition.create () in
  let box = ref None and n = 200 in
  let rec take () =
    match !box with
    | Some v ->
        box := None;
        P.Condition.broadcast changed;
        v
    | None ->
        P.Condition.wait changed mutex;
        take ()
  and put v =
    if Option.is_none !box then begin
      box := Some v;
      P.Condition.broadcast changed
    end
    else begin
      P.Condition.wait changed mutex;
      put v
    end
  in
  let join =
    elsewhere (fun () ->
        for i = 1 to n do
          P.Mutex.protect mutex (fun () -> put i)
        done)
  in
  for i = 1 to n do
    int "in turn" i (P.Mutex.protect mutex take)
  done;
  join ()

let semaphores () =
  let asked = P.Semaphore.Counting.make 0 in
  let answered = P.Semaphore.Binary.make false and n = 200 in
  let join =
    elsewhere (fun () ->
        for _ = 1 to n do
          P.Semaphore.Counting.acquire asked;
          P.Semaphore.Binary.release answered
        done)
  in
  for _ = 1 to n do
    P.Semaphore.Counting.release asked;
    P.Semaphore.Binary.acquire answered
  done;
  join ()

let stream () =
  let stream = P.Stream.create () and n = 200 in
  let cursor = P.Stream.tap stream in
  let join =
    elsewhere (fun () ->
        for i = 1 to n do
          P.Stream.push stream i;
          Fiber.yield ()
        done)
  in
  let rec sum cursor left =
    if left = 0 then 0
    else
      let v, next = P.Stream.read cursor in
      v + sum next (left - 1)
  in
  int "sum" (n * (n + 1) / 2) (sum cursor n);
  join ()

let ivar () =
  let question = P.Ivar.create () and answer = P.Ivar.create () in
  let join =
    elsewhere (fun () -> P.Ivar.fill answer (P.Ivar.read question + 1))
  in
  P.Ivar.fill question 6;
  int "answer" 7 (P.Ivar.read answer);
  join ();
  let poisoned : unit P.Ivar.t = P.Ivar.create () in
  let join = elsewhere (fun () -> P.Ivar.poison poisoned Boom) in
  raises "poison" Boom (fun () -> P.Ivar.read poisoned);
  join ()

let latch_and_lazy () =
  let latch = P.Latch.create 2 and gate = P.Ivar.create () in
  let computed = P.Lazy.from_fun (fun () -> P.Ivar.read gate) in
  let join =
    elsewhere (fun () ->
        P.Latch.decr latch;
        P.Lazy.force computed)
  in
  P.Latch.decr latch;
  P.Latch.await latch;
  let fill = elsewhere (fun () -> P.Ivar.fill gate 5) in
  int "forced here" 5 (P.Lazy.force computed);
  int "forced there" 5 (join ());
  fill ()

let events () =
  let news = P.Ivar.create () and stop = P.Ivar.create () in
  let join = elsewhere (fun () -> P.Ivar.fill stop 2) in
  int "the one that comes" 2
    (Ev.select [ P.Ivar.read_evt news; P.Ivar.read_evt stop ]);
  P.Ivar.fill news 1;
  join ()

let computations () =
  let c = Computation.create () in
  let join = elsewhere (fun () -> Computation.return c 3) in
  int "awaited" 3 (Computation.await c);
  join ()

(* --- Fibers ------------------------------------------------------------------- *)

let flock () =
  let answer = P.Ivar.create () and sum = Atomic.make 0 in
  Flock.join_after (fun () ->
      for i = 1 to 10 do
        Flock.fork (fun () ->
            ignore (Atomic.fetch_and_add sum (i * P.Ivar.read answer) : int))
      done;
      P.Ivar.fill answer 1);
  int "sum" 55 (Atomic.get sum);
  let twice =
    Flock.join_after (fun () ->
        let p =
          Flock.fork_as_promise (fun () ->
              Fiber.yield ();
              21)
        in
        2 * Promise.await p)
  in
  int "promise" 42 twice

let fails () =
  let unwound = Atomic.make 0 in
  raises "the failure" Boom (fun () ->
      Run.all
        [
          (fun () ->
            Fun.protect Control.block ~finally:(fun () -> Atomic.incr unwound));
          (fun () -> raise Boom);
        ]);
  yes "the other one was unwound, or did not begin" (Atomic.get unwound <= 1)

(* [wait ()] for ever, in a fiber of a bundle that is terminated. *)
let terminated ~is_waiting wait =
  let unwound = ref false in
  Bundle.join_after (fun bundle ->
      Bundle.fork bundle (fun () ->
          match wait () with
          | () -> Alcotest.fail "it went on"
          | exception Control.Terminate -> unwound := true);
      eventually ~pause:Fiber.yield "it waits" is_waiting;
      Bundle.terminate bundle);
  yes "unwound" !unwound

let terminated_in_theirs () =
  let waits = ref false in
  terminated
    ~is_waiting:(fun () -> !waits)
    (fun () ->
      waits := true;
      P.Ivar.read (P.Ivar.create ()))

let terminated_in_ours () =
  let m : unit Concord.Mvar.t = Concord.Mvar.create_empty () in
  terminated
    ~is_waiting:(fun () -> Concord.Mvar.waiters m = 1)
    (fun () -> Concord.Mvar.take m);
  int "nobody waits" 0 (Concord.Mvar.waiters m)

(* The host's cancellation is deferred with that of Picos. *)
let deferred () =
  let m = Concord.Mvar.create_empty () and got = ref 0 in
  Bundle.join_after (fun bundle ->
      Bundle.fork bundle (fun () ->
          got := Control.protect (fun () -> Concord.Mvar.take m);
          got := !got + Concord.Suspend.protect (fun () -> Concord.Mvar.take m);
          match Control.raise_if_canceled () with
          | () -> Alcotest.fail "it was not told"
          | exception Control.Terminate -> ());
      let has_waiter () =
        eventually ~pause:Fiber.yield "it waits" (fun () ->
            Concord.Mvar.waiters m = 1)
      in
      has_waiter ();
      Bundle.terminate bundle;
      (* which is the bundle of this fiber too *)
      Control.protect (fun () ->
          int "it waits" 1 (Concord.Mvar.waiters m);
          Concord.Mvar.put m 1;
          eventually ~pause:Fiber.yield "and again" (fun () -> !got = 1);
          Concord.Mvar.put m 2));
  int "both" 3 !got

let timeouts () =
  Control.sleep ~seconds:0.001;
  raises "too late" Control.Terminate (fun () ->
      Control.terminate_after ~seconds:0.005 Control.block);
  raises "too late" Control.Terminate (fun () ->
      Control.terminate_after ~seconds:0.005 (fun () ->
          Concord.Event.sync Concord.Event.never));
  int "in time" 1 (Control.terminate_after ~seconds:60. (fun () -> 1))

(* --- Both kinds ------------------------------------------------------------------ *)

let ours () =
  let m = Concord.Mvar.create_empty () in
  let join = elsewhere (fun () -> Concord.Mvar.put m 1) in
  int "from a fiber of Picos" 1 (Concord.Mvar.take m);
  join ();
  Flock.join_after (fun () ->
      Flock.fork (fun () -> Concord.Mvar.put m 2);
      int "from a fiber beside" 2 (Concord.Mvar.take m));
  let ivar = P.Ivar.create () in
  yes "tasks"
    (Concord.both (fun () -> P.Ivar.read ivar) (fun () -> P.Ivar.fill ivar 3)
    = (3, ()))

let nested () =
  let wait () =
    let ivar = P.Ivar.create () in
    Flock.join_after (fun () ->
        Flock.fork (fun () -> P.Ivar.fill ivar ());
        P.Ivar.read ivar)
  in
  Concord_picos.as_fiber (fun () ->
      wait ();
      Concord_picos.as_fiber wait;
      wait ());
  wait ()

(* A task of a scheduler inside is no fiber, unless it says so. *)
let scheduler_inside () =
  Concord_fifo.run (fun () ->
      let ivar = P.Ivar.create () in
      let fiber =
        Concord_fifo.fork_promise (fun () ->
            Concord_picos.as_fiber (fun () -> P.Ivar.read ivar))
      in
      Concord_fifo.yield ();
      P.Ivar.fill ivar 1;
      int "in Fifo" 1 (Concord.Promise.await fiber));
  let ivar = P.Ivar.create () in
  Concord_picos.using (fun () ->
      Picos_mux_fifo.run (fun () ->
          Run.all
            [
              (fun () -> P.Ivar.fill ivar 2);
              (fun () -> int "in Picos" 2 (P.Ivar.read ivar));
            ]))

let result () =
  int "value" 1 (Concord_picos.as_fiber (fun () -> 1));
  raises "exception" Boom (fun () ->
      Concord_picos.as_fiber (fun () -> raise Boom));
  (* fibers that nobody joins *)
  let ended = Atomic.make 0 in
  Concord_picos.as_fiber (fun () ->
      for _ = 1 to 5 do
        let fiber = Fiber.create ~forbid:false (Computation.create ()) in
        Fiber.spawn fiber (fun _ ->
            Fiber.yield ();
            Atomic.incr ended)
      done);
  int "it waits for them" 5 (Atomic.get ended)

let cases =
  [
    ("Mutex, Condition", mutex_and_condition);
    ("Semaphore", semaphores);
    ("Stream", stream);
    ("Ivar", ivar);
    ("Latch, Lazy", latch_and_lazy);
    ("Event", events);
    ("Computation", computations);
    ("Flock", flock);
    ("a fiber fails", fails);
    ("a bundle is terminated", terminated_in_theirs);
    ("the same, in a structure of ours", terminated_in_ours);
    ("deferred", deferred);
    ("timeouts", timeouts);
    ("structures of ours", ours);
    ("nested", nested);
    ("schedulers inside", scheduler_inside);
    ("its result", result);
  ]

let on (place : Places.place) =
  ( "fibers in " ^ place.name,
    List.map
      (fun (name, case) ->
        test name (fun () -> place.run (fun () -> Concord_picos.as_fiber case)))
      cases )

(* --- The host cancels ---------------------------------------------------------------- *)

(* All fibers are unwound, also those of bundles. *)
let host_cancels (host : Concord_test_hosts.Cancelling.host) () =
  host.run @@ fun () ->
  let begun = ref 0 and unwound = ref 0 and over = ref None in
  let wait () =
    incr begun;
    Fun.protect
      (fun () -> P.Ivar.read (P.Ivar.create ()))
      ~finally:(fun () -> incr unwound)
  in
  let owner () =
    match
      Concord_picos.as_fiber (fun () ->
          Flock.join_after (fun () ->
              Flock.fork wait;
              Flock.fork wait;
              wait ()))
    with
    | () -> Alcotest.fail "not cancelled"
    | exception e ->
        over := Some (host.is_cancellation e);
        if not (host.is_cancellation e) then raise e
  in
  let cancel = host.fork owner in
  Concord_test_hosts.Cancelling.until host "they wait" (fun () -> !begun = 3);
  cancel ();
  Concord_test_hosts.Cancelling.until host "it is over" (fun () ->
      Option.is_some !over);
  yes "the host's exception" (!over = Some true);
  int "all were unwound" 3 !unwound

(* --- It is a host ---------------------------------------------------------------------- *)

let hosts =
  let open Concord_test_hosts in
  let on (place : Places.place) =
    let run f = place.run (fun () -> Concord_picos.as_fiber f) in
    let name = "as_fiber in " ^ place.name in
    [
      (name ^ ", reached", Reach_cases.place name Reach_cases.suspends run);
      (name ^ ", lazy, undefined", Lazy_undefined.within run);
      Tasks_first.everywhere (name ^ ", first, timeouts, lists", run);
    ]
  in
  (* One of these cases runs a scheduler in a further thread. On a domain of a pool that
     takes the order of the schedulers that run there from [Domain_local_await]. *)
  let tasks (place : Places.place) =
    let run f = place.run (fun () -> Concord_picos.as_fiber f) in
    Tasks_cases.everywhere ("as_fiber in " ^ place.name ^ ", tasks", run)
  in
  List.concat_map on Places.[ in_fifo; in_eio; in_pool; in_picos ]
  @ List.map tasks Places.[ in_fifo; in_eio; in_picos ]

let cancelled =
  let open Concord_test_hosts in
  let in_fifo =
    Schedulers.
      {
        name = "as_fiber in Fifo";
        run = (fun f -> Concord_fifo.run (fun () -> Concord_picos.as_fiber f));
      }
  in
  let host = Schedulers.cancelling in_fifo in
  [
    ( "as_fiber, cancelled",
      [
        test "is_cancelled" (Reach_cases.cancelled host);
        test "by Fifo" (host_cancels (Cancelling.fifo `Eager));
        test "by Fifo, lazily" (host_cancels (Cancelling.fifo `Lazy));
        test "by Eio" (host_cancels (Cancelling.eio ~protects:true));
        test "by Picos" (host_cancels (Schedulers.cancelling Schedulers.fifo));
      ] );
    Tasks_cases.from_outside "as_fiber" host;
    Tasks_first.from_outside "as_fiber, first" host;
    Lazy_policies.suite "as_fiber, lazy, cancelled" host;
  ]

let suites = List.map on Places.all @ hosts @ cancelled
