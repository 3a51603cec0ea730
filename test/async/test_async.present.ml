(* Each in a process of its own: a scheduler is started once. *)
let () =
  match Sys.argv with
  | [| _; "go" |] -> Async_cases.Going.run ()
  | [| _; "matrix" |] -> Async_cases.In_matrix.run ()
  | _ -> Async_cases.Structures.run ()
