(* The matrix in a process of its own. *)
let () =
  match Sys.argv with
  | [| _; "matrix" |] -> Miou_cases.In_matrix.run ()
  | _ -> Miou_cases.Special.run ()
