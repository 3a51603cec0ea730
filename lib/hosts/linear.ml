open Effect.Deep

exception Dropped

let () =
  Printexc.register_printer (function
    | Dropped -> Some "Concord.Linear.Dropped"
    | _ -> None)

(* A continuation that was resumed refuses at once, before anything runs. *)
let unwind k =
  match discontinue k Dropped with
  | _ -> ()
  | exception (Dropped | Effect.Continuation_already_resumed) -> ()

let case handle k =
  match handle k with
  | result ->
      unwind k;
      result
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      unwind k;
      Printexc.raise_with_backtrace e backtrace
