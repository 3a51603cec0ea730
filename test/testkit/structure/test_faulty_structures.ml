(* Each fault is noticed by the checks that should notice it, and a structure without a fault
   passes. test/model/model_faulty.ml tests the same of all interleavings. *)

open Concord_test_support

(* In most runs, 60 programs or races are enough. *)
let notices check n fault =
  let module Faulty = Box.Described (struct
    let fault = fault
  end) in
  match check (Race.random 0) (module Faulty : Structure.STRUCTURE) n with
  | () -> false
  | exception Concord_testkit__Trial.Failed text ->
      print_endline text;
      true

let test name check fault ~noticed =
  let n = if noticed then 3_000 else 60 in
  Check.test name (fun () ->
      Alcotest.(check bool) "noticed" noticed (notices check n fault))

let programs = test "programs" Structure.programs
let races = test "races" Structure.races

let both name fault =
  (name, [ programs fault ~noticed:true; races fault ~noticed:true ])

(* On one domain it has no effect. *)
let only_races name fault =
  (name, [ programs fault ~noticed:false; races fault ~noticed:true ])

let () =
  Printf.printf "CONCORD_SEED=%d\n%!" Race.seed;
  Check.run "faulty structures"
    [
      ("none", [ programs Nothing ~noticed:false; races Nothing ~noticed:false ]);
      both "served out of order" Last_first;
      both "a cancelled task is served" Refusal_ignored;
      both "a cancelled task stays" Withdrawn_stay;
      both "close ignores a task" Close_wakes_one;
      both "no wake-up" Put_wakes_nobody;
      only_races "a wake-up is lost" Enlists_too_late;
      only_races "a value is taken twice" Taken_twice;
    ]
