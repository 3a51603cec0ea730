let event f structure =
  if Observer.are_kept () then
    Event.guard (fun () ->
        let holder = Holders.caller () in
        Holders.waits holder;
        f holder structure)
  else f Holders.unknown structure
