let () = Moonpool_cases.run ()
