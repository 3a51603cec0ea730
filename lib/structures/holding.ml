let event f structure =
  if Holders.are_known () then
    Event.guard (fun () ->
        let holder = Holders.caller () in
        Holders.waits holder;
        f holder structure)
  else f Holders.unknown structure

(* If it is given back while [f] runs, [holder] may be another one at the end. *)
let giving_back ~kind ~holder structure f x =
  match f x with
  | v ->
      Holders.gives_back ~kind structure (holder structure);
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Holders.gives_back ~kind structure (holder structure);
      Printexc.raise_with_backtrace e backtrace

let within ~kind ?(ends = Holder.With_others) ?holder structure bracket f =
  Holders.within (fun by ->
      let by = Holders.ending ends by in
      let holder = Option.value holder ~default:(fun _ -> by) in
      bracket by (giving_back ~kind ~holder structure f))
