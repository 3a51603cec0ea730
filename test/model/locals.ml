(* No model has a key. *)

exception Elsewhere

type slot = {
  read : unit -> Bindings.t option;
  within : 'a. Bindings.t -> (unit -> 'a) -> 'a;
  kept : (unit -> Bindings.t option) option;
}

type place = Nowhere
type _ Effect.t += Where : place Effect.t

let nowhere = Nowhere
let in_slot _ = Nowhere
let around _ = Nowhere
let kept () = None
let snapshot () = Bindings.none
let carry f = f
