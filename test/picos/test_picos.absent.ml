let () =
  if Array.length Sys.argv = 1 then
    print_endline "concord-picos: not tested, as Picos is not installed"
