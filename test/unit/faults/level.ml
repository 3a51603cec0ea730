(* Does the heap come back to the same level? *)

open Concord_test_support.Check

let rounds = 100

let live_words () =
  Gc.full_major ();
  Gc.full_major ();
  (Gc.stat ()).live_words

(* What the first rounds make for good is not counted. *)
let warm_up = 10

(* A thousand words: less than one waiter in each round. *)
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

(* While the program is debugged, there are notes of the last thousands of waits. *)
let test name round = unless_debugged (test name (stays round))
