(* The suite and the matrices run in their own processes, because a program that had a second
   domain can't fork, and Lwt has only one loop. *)
let () =
  match Sys.argv with
  | [| _; "host" |] -> Picos_cases.As_host.run ()
  | [| _; "matrix" |] -> Picos_cases.In_matrix.run ()
  | [| _; "guests" |] -> Picos_cases.In_matrix.run_guests ()
  | _ -> Picos_cases.All.run ()
