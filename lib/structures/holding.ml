let event f structure =
  if Holders.are_known () then
    Event.guard (fun () ->
        let holder = Holders.caller () in
        Holders.waits holder;
        f holder structure)
  else f Holders.unknown structure

let measured ~kind structure ~holder f x =
  match f x with
  | v ->
      Holders.gives_back ~kind structure (holder structure);
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Holders.gives_back ~kind structure (holder structure);
      Printexc.raise_with_backtrace e backtrace
