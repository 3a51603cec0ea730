(* How a process reaches the host of the model, which handles [Suspend] and
   [Concord_suspend.Protect] itself. *)

open Concord_suspend

let suspend block = Effect.perform (Suspend block)
let suspend_loop = suspend

let protect f =
  match Effect.perform Protect with
  | exception Effect.Unhandled Protect -> f ()
  | unprotect -> Fun.protect ~finally:unprotect f

type _ Effect.t +=
  | Refusing : unit Effect.t
  | Refused_effects : exn option Effect.t

let misused message = invalid_arg message
let is_refusal (_ : exn) = false
let name_refusal (_ : string) = ()
let some_end_tasks () = false
let watch_end () (_ : exn) = false

let question question ~otherwise =
  Some (Effect.perform (Ask { question; otherwise }))

let suspend_at_once = suspend

type noted = { suspend : 'a. ('a resumer -> 'a option) -> 'a }

let noted () = { suspend }
let by_search = { suspend }

exception Elsewhere

let comes_back () = false
let nobody_answers () = false
let suspend_slowly (_ : unit -> Target.t list) block = suspend block

type _ Effect.t += Who : Who.t Effect.t

let who () =
  try Effect.perform (Ask { question = Who; otherwise = Who.unknown "" })
  with Effect.Unhandled _ -> Who.unknown ""
