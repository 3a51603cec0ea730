type t = { returns : int; raises : int }
type stack = int

external returns : unit -> (int[@untagged])
  = "concord_handler_returns_byte" "concord_handler_returns"
[@@noalloc]

external raises : unit -> (int[@untagged])
  = "concord_handler_raises_byte" "concord_handler_raises"
[@@noalloc]

external here : unit -> (int[@untagged])
  = "concord_stack_here_byte" "concord_stack_here"
[@@noalloc]

external around : unit -> (int[@untagged])
  = "concord_stack_around_byte" "concord_stack_around"
[@@noalloc]

external nothing_but : (int[@untagged]) -> (int[@untagged]) -> bool
  = "concord_handler_nothing_but_byte" "concord_handler_nothing_but"
[@@noalloc]

external alone : (int[@untagged]) -> (int[@untagged]) -> bool
  = "concord_handler_alone_byte" "concord_handler_alone"
[@@noalloc]

let none = { returns = 0; raises = 0 }
let[@inline never] read () = { returns = returns (); raises = raises () }

(* All that use [try_with] have these functions. *)
let of_try_with =
  Effect.Deep.try_with read ()
    { effc = (fun (type a) (_ : a Effect.t) -> None) }

let get () =
  match read () with
  | { returns = 0; _ } | { raises = 0; _ } -> none
  | t when t = of_try_with -> none
  | t -> t

let[@inline] nothing_but { returns; raises } = nothing_but returns raises
let[@inline] alone { returns; raises } = alone returns raises
