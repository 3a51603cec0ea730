(* The state of a fiber of Picos after scopes and waits. *)

open Picos
open Concord
open Concord.Tools
open Concord_test_support.Check
open Schedulers

(* Only a registered scheduler opens scopes itself. *)

(* It is cancelled, although nothing has waited. *)
let cancelled_in_scope () =
  (registered fifo).run @@ fun () ->
  let computation = Computation.create () and ended = Promise.create () in
  let body _ =
    Computation.cancel computation Ended (Printexc.get_callstack 0)
  in
  let run _ =
    Promise.fill ended
      (match Scope.run body with () -> None | exception e -> Some e)
  in
  Fiber.spawn (Fiber.create ~forbid:false computation) run;
  yes "cancelled" (Promise.await ended = Some Ended)

let deferred () =
  (registered fifo).run @@ fun () ->
  let is_forbidden () = Fiber.has_forbidden (Fiber.current ()) in
  Suspend.protect (fun () ->
      Scope.run (fun _ -> no "in the scope" (is_forbidden ()));
      yes "after it" (is_forbidden ()));
  Scope.run ignore;
  no "restored" (is_forbidden ())

(* The library has to check for this, because Moonpool starts a fiber even if the forking fiber
   is cancelled. *)
let fork_of_cancelled s () =
  (registered s).run @@ fun () ->
  let computation = Computation.create () and told = Promise.create () in
  let begun = ref false in
  let body scope =
    Computation.cancel computation Ended (Printexc.get_callstack 0);
    Promise.fill told
      (match Scope.fork scope (fun () -> begun := true) with
      | () -> None
      | exception e -> Some e)
  in
  Fiber.spawn (Fiber.create ~forbid:false computation) (fun _ ->
      try Scope.run body with Ended -> ());
  yes "cancelled" (Promise.await told = Some Ended);
  no "the task has begun" !begun

(* The scope doesn't wait for a task that the scheduler has not started. *)
let refused () =
  let refusing f =
    let effc (type a) (e : a Effect.t) :
        ((a, _) Effect.Deep.continuation -> _) option =
      match e with
      | Fiber.Spawn _ -> Some (fun k -> Effect.Deep.discontinue k Ended)
      | _ -> None
    in
    Effect.Deep.try_with f () { effc }
  in
  (registered fifo).run @@ fun () ->
  Scope.run (fun scope ->
      raises "what the scheduler raises" Ended (fun () ->
          refusing (fun () -> Scope.fork scope ignore)))

(* The computation of a fiber must forget each wait and each scope. *)
let little what f =
  let live () =
    Gc.full_major ();
    (Gc.stat ()).live_words
  in
  f ();
  let before = live () in
  f ();
  let after = live () in
  if after - before > 20_000 then
    Alcotest.failf "%s: %d words are left" what (after - before)

let memory () =
  (registered fifo).run @@ fun () ->
  let n = 5_000 and there = Mvar.create_empty () in
  let back = Mvar.create_empty () in
  let _cancel : unit -> unit =
    spawn (fun () ->
        for _ = 1 to 2 * n do
          Mvar.put back (Mvar.take there)
        done)
  in
  little "waits" (fun () ->
      for i = 1 to n do
        Mvar.put there i;
        int "back" i (Mvar.take back)
      done);
  little "scopes" (fun () ->
      for _ = 1 to n do
        Scope.run ignore
      done)

(* The same for fibers that are tasks of another host. *)
let memory_of_guests () =
  Concord_fifo.run @@ fun () ->
  Concord_picos.as_fiber @@ fun () ->
  let asked = ref None and over = ref false in
  let answer _ =
    while not !over do
      Option.iter Trigger.signal !asked;
      asked := None;
      Fiber.yield ()
    done
  in
  Fiber.spawn (Fiber.create ~forbid:false (Computation.create ())) answer;
  little "waits" (fun () ->
      for _ = 1 to 10_000 do
        let trigger = Trigger.create () in
        asked := Some trigger;
        yes "signalled" (Option.is_none (Trigger.await trigger))
      done);
  over := true

(* The task is cancelled, but the computation of its fiber isn't. *)
let memory_of_cancelled () =
  Concord_fifo.run @@ fun () ->
  let computation = Computation.create () and over = ref false in
  let waits () =
    for _ = 1 to 10_000 do
      yes "cancelled" (Option.is_some (Trigger.await (Trigger.create ())))
    done
  in
  let guest () =
    Fiber.set_computation (Fiber.current ()) (Packed computation);
    Fun.protect
      (fun () -> little "waits" waits)
      ~finally:(fun () -> over := true)
  in
  let task = Concord_fifo.fork (fun () -> Concord_picos.as_fiber guest) in
  Concord_fifo.yield ();
  Concord_fifo.cancel task;
  while not !over do
    Concord_fifo.yield ()
  done;
  yes "it is still running" (Computation.is_running computation)

let suites =
  [
    ( "afterwards",
      [
        test "cancelled in a scope" cancelled_in_scope;
        test "a scope where cancellation is deferred" deferred;
        test "a fork of a fiber that is cancelled" (fork_of_cancelled fifo);
        test "a fork that the scheduler refuses" refused;
        test "memory" memory;
        test "memory, as_fiber" memory_of_guests;
        test "memory, as_fiber, cancelled" memory_of_cancelled;
      ] );
  ]
