let () =
  Roles.main
    [
      ("thread", fun f -> f ());
      ("fifo", fun f -> Concord_fifo.run f);
      ("domain", fun f -> Domain.join (Domain.spawn f));
    ]
