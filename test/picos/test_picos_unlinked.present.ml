let () = Picos_unlinked.run ()
