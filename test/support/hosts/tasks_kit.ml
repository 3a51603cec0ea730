(* Helpers for the cases about scopes. *)

open Concord
open Concord_test_support
open Check

exception Boom
exception Bang

let[@inline never] explode () = if true then raise Boom
let never () = Event.sync Event.never

(* [f ()], counting in [unwound] how often it has ended. *)
let counting unwound f = Fun.protect ~finally:(fun () -> incr unwound) f

let refused what f =
  match f () with
  | () -> Alcotest.failf "%s: nothing was raised" what
  | exception Invalid_argument text ->
      yes (what ^ ": it says where") (contains text "Scope.fork")
