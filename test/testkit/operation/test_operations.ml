(* Every operation of the library keeps the contract that the library asks of users'
   structures. [test_contract] checks the exact parts one by one. Here the contract is checked
   as users would do it, and the time goes to the storms, which [test/stress] has too. *)

open Concord_test_support
open Concord_test_described
open Concord_testkit

let seconds = if Race.long then 30. else 0.1

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
      ("all", List.map test (Race.drawn Operations.all));
      ("both sides", List.map test_sides (Race.drawn Two_sides.all));
    ]
