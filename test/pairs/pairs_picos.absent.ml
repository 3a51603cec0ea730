let () =
  print_endline
    "Picos is not installed, or picos_io is not: its pairs were not run"
