let () =
  Concord_test_support.Check.run "Better than its peers, without concord-eio"
    Peers_cases.suites
