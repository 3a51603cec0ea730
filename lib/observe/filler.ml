let add who ~is_resolved promise =
  Labels.add promise ~holders:(fun () ->
      if is_resolved promise then [] else [ Waits.not_ended (who ()) ])

let add_thread ~is_resolved promise =
  if Waits.are_kept () then
    let thread = Who.of_thread () in
    add (fun () -> thread) ~is_resolved promise
