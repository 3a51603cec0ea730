let () =
  print_endline
    "concord-picos: not tested with Moonpool, which is not installed"
