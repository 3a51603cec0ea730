(* Each part runs in its own process, because a scheduler is started only once, and the library
   reads the variable when it is initialised. *)
let () =
  match Sys.argv with
  | [| _; "go" |] -> Async_cases.Going.run ()
  | [| _; "asleep" |] -> Async_cases.Asleep.run ()
  | [| _; "exit" |] -> Async_cases.Exiting.run ()
  | [| _; "matrix" |] -> Async_cases.In_matrix.run ()
  | [| _; "host" |] -> Async_cases.As_host.run ()
  | [| name; "leaks" |] ->
      Unix.putenv "CONCORD_DEBUG" "leaks";
      Unix.execv Sys.executable_name [| name |]
  | _ when Sys.getenv_opt "CONCORD_DEBUG" = Some "leaks" ->
      Async_cases.Leaks.run ()
  | _ -> Async_cases.Structures.run ()
