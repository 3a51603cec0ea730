(* Every operation of the library keeps what the library asks of those of its users. *)

open Concord_test_support
open Concord_test_described
open Concord_testkit

let seconds = if Race.long then 30. else 0.3

let passes operation () =
  let report = Operation.check ~seed:Race.seed ~seconds operation in
  if not (Report.passed report) then
    Alcotest.failf "%s" (Report.to_string report)

let test (described : int Operations.t) =
  Check.test described.name (passes (Described.operation described))

let test_sides (name, operation) = Check.test name (passes operation)

let () =
  Check.run "Operations"
    [
      ("all", List.map test Operations.all);
      ("both sides", List.map test_sides Two_sides.all);
    ]
