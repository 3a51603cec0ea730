let () =
  Concord_test_support.Check.run "Nested loops, without concord-eio"
    Nested_cases.suites
