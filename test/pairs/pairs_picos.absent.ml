let () = print_endline "Picos is not installed: its pairs were not run"
