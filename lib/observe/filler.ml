let add who ~is_resolved promise =
  Labels.add promise ~holders:(fun () ->
      if is_resolved promise then [] else [ Waits.not_ended (who ()) ])

let add_thread ?origin ~is_resolved promise =
  if Waits.are_kept () then (
    let thread = Who.of_thread () in
    Option.iter (Task_id.note_origin thread) origin;
    add (fun () -> thread) ~is_resolved promise)
