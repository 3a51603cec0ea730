let () =
  Concord_test_support.Check.run "Eio, without concord-eio" Eio_cases.suites
