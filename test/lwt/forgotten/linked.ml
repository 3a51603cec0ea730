(* The same tasks in a program that links concord-lwt. *)

let () =
  Lwt_main.run (Lwt_direct.spawn (fun () -> Concord.Tasks.sleep 0.001));
  at_exit (fun () -> Concord.Tasks.sleep 0.001);
  print_endline "done"
