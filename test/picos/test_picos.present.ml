(* The suite and the matrices in processes of their own: a program that had a second domain
   cannot fork, and Lwt has one loop. *)
let () =
  match Sys.argv with
  | [| _; "host" |] -> Picos_cases.As_host.run ()
  | [| _; "matrix" |] -> Picos_cases.In_matrix.run ()
  | [| _; "guests" |] -> Picos_cases.In_matrix.run_guests ()
  | _ -> Picos_cases.All.run ()
