(* Tasks of other hosts as fibers of Picos. Each case runs in a fiber that is a task of some
   host. *)

open Picos
open Picos_std_structured
module P = Picos_std_sync
open Concord_test_support.Check

let elsewhere = Guest_structures.elsewhere

exception Boom

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

(* [wait ()] waits forever, in a fiber of a bundle that is terminated. *)
let terminated ~is_waiting wait =
  let unwound = ref false in
  Bundle.join_after (fun bundle ->
      Bundle.fork bundle (fun () ->
          match wait () with
          | () -> Alcotest.fail "it continued"
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
  int "no task waits" 0 (Concord.Mvar.waiters m)

(* A cancelled fiber neither lets others run nor starts them. *)
let cancelled () =
  let computation = Computation.create () in
  let begun = Atomic.make false and over = Atomic.make false in
  let other () = Fiber.create ~forbid:false (Computation.create ()) in
  let main _ =
    Computation.cancel computation Boom (Printexc.get_callstack 0);
    raises "yield" Boom Fiber.yield;
    raises "spawn" Boom (fun () ->
        Fiber.spawn (other ()) (fun _ -> Atomic.set begun true));
    Atomic.set over true
  in
  Fiber.spawn (Fiber.create ~forbid:false computation) main;
  eventually ~pause:Fiber.yield "it is over" (fun () -> Atomic.get over);
  no "another one has begun" (Atomic.get begun)

(* The host's cancellation is deferred together with that of Picos. *)
let deferred () =
  let m = Concord.Mvar.create_empty () and got = ref 0 in
  Bundle.join_after (fun bundle ->
      Bundle.fork bundle (fun () ->
          got := Control.protect (fun () -> Concord.Mvar.take m);
          got := !got + Concord.Tasks.protect (fun () -> Concord.Mvar.take m);
          match Control.raise_if_canceled () with
          | () -> Alcotest.fail "it was not cancelled"
          | exception Control.Terminate -> ());
      let has_waiter () =
        eventually ~pause:Fiber.yield "it waits" (fun () ->
            Concord.Mvar.waiters m = 1)
      in
      has_waiter ();
      Bundle.terminate bundle;
      (* This fiber belongs to the same bundle. *)
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
    (Concord.Tasks.both
       (fun () -> P.Ivar.read ivar)
       (fun () -> P.Ivar.fill ivar 3)
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

(* A task of an inner scheduler isn't a fiber, unless it calls [as_fiber]. *)
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
  (* These fibers are never joined. *)
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
  Guest_structures.cases
  @ [
      ("Flock", flock);
      ("a fiber fails", fails);
      ("a bundle is terminated", terminated_in_theirs);
      ("the same, in a structure of ours", terminated_in_ours);
      ("a fiber that is cancelled", cancelled);
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

let suites = List.map on Places.all
