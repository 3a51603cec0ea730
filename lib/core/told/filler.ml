let add who ~is_resolved promise =
  let holders () =
    if is_resolved promise then [] else [ Holder.not_ended (who ()) ]
  in
  !Observer.it.ends_waits ~is_over:(fun () -> false) holders promise

let add_thread ?origin ~is_resolved promise =
  if Observer.are_kept () then begin
    let thread = Who_is.this_thread () in
    Option.iter (!Observer.it.origin thread) origin;
    add (fun () -> thread) ~is_resolved promise
  end

let add_receiver ~ends_waits ~is_over structure =
  if Observer.are_kept () then begin
    let caller = !Observer.it.caller () in
    caller.ends <- Perhaps;
    let holders () = if ends_waits () then [ caller ] else [] in
    !Observer.it.ends_waits ~is_over holders structure
  end
