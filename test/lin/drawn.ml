module Race = Concord_test_support.Race

let run tests =
  QCheck_base_runner.set_seed Race.seed;
  QCheck_base_runner.run_tests_main (Race.drawn tests)
