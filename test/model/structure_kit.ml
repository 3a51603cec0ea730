(* What a model needs of lib/core/waiting/structure_kit.ml. *)

module Waiter = Waiter

type ('x, 'a) waiter = ('x, 'a) Waiter.t

include Operation

let wait = Operation.perform
let update = Atomically.update
