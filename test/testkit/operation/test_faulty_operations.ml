(* Each check can fail. This tests which checks fail for structures that are wrong on purpose. *)

open Concord_test_support
open Concord_testkit
module Run = Concord_testkit__Operation_run

(* The time for the random checks, where they have to find a fault. *)
let seconds = 1.

let passes operation () =
  let report = Operation.check ~seed:1 ~seconds:0.1 operation in
  if not (Report.passed report) then
    Alcotest.failf "%s" (Report.to_string report)

let breaks operation clauses () =
  let report = Operation.check ~seed:1 ~seconds operation in
  let broken = Report.broken report in
  if broken <> clauses then Alcotest.failf "%s" (Report.to_string report)

(* Each clause is broken by some structure. *)
let all_are_broken () =
  let report =
    Operation.check ~seed:1 ~seconds:0.1 (snd (List.hd Faulty_operations.sound))
  in
  let breakable =
    List.concat_map (fun (_, _, clauses) -> clauses) Faulty_operations.faulty
  in
  let clauses = List.map (fun l -> l.Report.clause) report.lines in
  Check.strings "clauses that nothing breaks" []
    (List.filter (fun clause -> not (List.mem clause breakable)) clauses)

let rec for_ever () =
  Domain.cpu_relax ();
  for_ever ()

let hang () =
  match
    Run.verdict ~seconds:0.3
      [ { Concord_testkit__Trial.title = "it"; run = for_ever } ]
  with
  | Report.Broken "it: hangs (no result in 0.3 s)" -> ()
  | Broken text -> Alcotest.fail text
  | Kept | Not_offered _ -> Alcotest.fail "it was kept"

let leaves_nothing_open () =
  let before = Concord_test_proc.descriptors () in
  let verdict =
    Run.verdict ~seconds:10.
      [ { Concord_testkit__Trial.title = "it"; run = ignore } ]
  in
  Check.yes "kept" (verdict = Report.Kept);
  Check.int "descriptors" before (Concord_test_proc.descriptors ())

(* After this, OCaml can't fork. *)
let after_a_domain f () =
  Domain.join (Domain.spawn ignore);
  f ()

let () =
  let open Faulty_operations in
  let test = Check.test in
  let sound_ (title, operation) = test title (passes operation) in
  let faulty_ (title, operation, clauses) =
    test title (breaks operation clauses)
  in
  let again title f = test (title ^ ", without a fork") (after_a_domain f) in
  let title, operation, clauses =
    List.find (fun (_, _, clauses) -> clauses = [ "S1" ]) faulty
  in
  Check.run "Faulty operations"
    [
      ("sound", List.map sound_ sound);
      ("faulty", List.map faulty_ faulty);
      ("the suite", [ test "every clause" all_are_broken; test "a hang" hang ]);
      ( "in a thread",
        [
          again "sound" (passes (snd (List.hd sound)));
          again title (breaks operation clauses);
          again "descriptors" leaves_nothing_open;
          again "a hang" hang;
        ] );
    ]
