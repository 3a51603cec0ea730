let () =
  print_endline "Lazy.Mutexed is left out, because it is new in OCaml 5.5"
