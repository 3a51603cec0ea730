let () = Async_pairs.run ()
