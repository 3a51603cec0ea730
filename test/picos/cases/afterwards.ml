(* What scopes and waits leave of a fiber of Picos. *)

open Picos
open Concord
open Concord_test_support.Check
open Schedulers

(* Only a scheduler that is registered opens scopes itself. *)

(* Though nothing has waited. *)
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

(* Each wait and each scope is forgotten by the computation of its fiber. *)
let memory () =
  let live () =
    Gc.full_major ();
    (Gc.stat ()).live_words
  in
  let little what f =
    f ();
    let before = live () in
    f ();
    let after = live () in
    if after - before > 20_000 then
      Alcotest.failf "%s: %d words are left" what (after - before)
  in
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

let suites =
  [
    ( "afterwards",
      [
        test "cancelled in a scope" cancelled_in_scope;
        test "a scope where cancellation is deferred" deferred;
        test "memory" memory;
      ] );
  ]
