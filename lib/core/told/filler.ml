let add who ~is_resolved promise =
  let holders () =
    if is_resolved promise then [] else [ Holder.not_ended (who ()) ]
  in
  !Observer.it.ends_waits holders promise

let add_thread ?origin ~is_resolved promise =
  if Observer.are_kept () then begin
    let thread = Who.of_thread () in
    Option.iter (!Observer.it.origin thread) origin;
    add (fun () -> thread) ~is_resolved promise
  end
