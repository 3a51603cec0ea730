(* The matrices in processes of their own, as Lwt has one loop. *)
let () =
  match Sys.argv with
  | [| _; "matrix" |] -> Picos_cases.In_matrix.run ()
  | [| _; "guests" |] -> Picos_cases.In_matrix.run_guests ()
  | _ -> Picos_cases.All.run ()
