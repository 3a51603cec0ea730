(* What the cases about scopes share. *)

open Concord
open Concord_test_support
open Check

exception Boom
exception Bang

let[@inline never] explode () = if true then raise Boom
let never () = Event.sync Event.never

(* [f ()], counting that it was unwound. *)
let counting unwound f = Fun.protect ~finally:(fun () -> incr unwound) f

let refused what f =
  match f () with
  | () -> Alcotest.failf "%s: nothing was raised" what
  | exception Invalid_argument text ->
      yes (what ^ ": it says where") (contains text "Scope.fork")
