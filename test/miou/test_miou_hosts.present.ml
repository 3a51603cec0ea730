let () = Miou_cases.Every_host.run ()
