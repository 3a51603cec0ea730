let services = []

let tests =
  [
    Concord_test_support.Check.test "left out" (fun () ->
        print_endline "ssl is not installed: not tested with TLS";
        Alcotest.skip ());
  ]
