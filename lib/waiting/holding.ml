let event f structure =
  if Waits.are_kept () then
    Event.guard (fun () -> f (Holders.caller ()) structure)
  else f Holders.unknown structure
