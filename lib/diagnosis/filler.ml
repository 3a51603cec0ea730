let add who ~is_resolved promise =
  Labels.add promise ~holders:(fun () ->
      if is_resolved promise then [] else [ Waits.not_ended (who ()) ])

let[@inline never] add_thread ~is_resolved promise =
  let thread = Who.of_thread () in
  add (fun () -> thread) ~is_resolved promise
