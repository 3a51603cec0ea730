let () =
  if Array.length Sys.argv = 1 then
    print_endline
      "concord-picos: not tested with Moonpool, which is not installed"
