module Waiter = Waiter
module Waiters = Waiters

type ('x, 'a) waiter = ('x, 'a) Waiter.t = {
  arg : 'x;
  choice : Waiter.choice;
  mutable resumer : ('a, exn) result -> bool;
}

type ('t, 'x, 'a) operation = ('t, 'x, 'a) Operation.t = {
  attempt : 't -> 'x -> 'a option;
  enlist : 't -> ('x, 'a) waiter -> bool;
  withdraw : 't -> ('x, 'a) waiter -> unit;
}

let wait = Operation.wait
let look_then_wait = Operation.look_then_wait
let meet_then_wait = Operation.meet_then_wait
let block = Operation.block
let withdraw = Operation.withdraw
let update = Atomically.update
