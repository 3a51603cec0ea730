open Effect.Deep

(* A block of its own for each continuation that is dropped: so the exception is told from
   that of a handler further out, which drops while this computation unwinds. *)
type dropped = unit ref

exception Dropped of dropped

let () =
  Printexc.register_printer (function
    | Dropped _ -> Some "Concord_styles.Linear.Dropped"
    | _ -> None)

(* [Fun.protect] wraps what a finaliser raises. *)
let rec is_of dropped = function
  | Dropped other -> other == dropped
  | Fun.Finally_raised e -> is_of dropped e
  | _ -> false

(* Nothing runs, and no frame is looked at. *)
let was_resumed k =
  match get_callstack k 0 with
  | (_ : Printexc.raw_backtrace) -> false
  | exception Effect.Continuation_already_resumed -> true

let drop k =
  if not (was_resumed k) then
    let dropped = ref () in
    match discontinue k (Dropped dropped) with
    | _ -> ()
    | exception e when is_of dropped e -> ()

let case handle k =
  match handle k with
  | result ->
      drop k;
      result
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      (try drop k with _ -> ());
      Printexc.raise_with_backtrace e backtrace
