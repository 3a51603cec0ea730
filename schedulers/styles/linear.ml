open Effect.Deep

(* Each dropped continuation has a block of its own, by which its exception is recognised. An
   outer handler may drop another continuation while this computation is unwound. *)
type dropped = unit ref

exception Dropped of dropped

let () =
  Printexc.register_printer (function
    | Dropped _ -> Some "Concord_styles.Linear.Dropped"
    | _ -> None)

(* [Fun.protect] wraps the exception of a finaliser. *)
let rec is_of dropped = function
  | Dropped other -> other == dropped
  | Fun.Finally_raised e -> is_of dropped e
  | _ -> false

(* Asking for a call stack of no frames is cheap, runs nothing, and raises if [k] was resumed. *)
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
