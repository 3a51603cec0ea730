(* Checks that the heap returns to the same level after many rounds. *)

open Concord_test_support.Check

let rounds = 100

let live_words () =
  Gc.full_major ();
  Gc.full_major ();
  (Gc.stat ()).live_words

(* The first rounds allocate some blocks that stay, so they are not counted. *)
let warm_up = 10

(* A thousand words are less than one lost waiter in each round. *)
let allowed = 1_000

let stays round () =
  for _ = 1 to warm_up do
    round ()
  done;
  let before = live_words () in
  for _ = 1 to rounds do
    round ()
  done;
  let grown = live_words () - before in
  if grown > allowed then
    Alcotest.failf "%d rounds have left %d words" rounds grown

(* A debugged program keeps records of the last few thousand waits, so this can't be
   measured there. *)
let test name round = unless_debugged (test name (stays round))
