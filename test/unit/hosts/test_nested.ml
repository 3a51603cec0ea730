let () = Concord_test_support.Check.run "Nested loops" Nested_cases.suites
