(* The suite and the matrix run in their own processes. *)
let () =
  match Sys.argv with
  | [| _; "host" |] -> Miou_cases.As_host.run ()
  | [| _; "matrix" |] -> Miou_cases.In_matrix.run ()
  | _ -> Miou_cases.Special.run ()
