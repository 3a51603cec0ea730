let () = Picos_pairs.run ()
