let () =
  if Array.length Sys.argv = 1 then
    print_endline
      "concord-async: not tested, as the library async is not installed"
