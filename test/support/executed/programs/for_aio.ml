let () = Executed.main ()
