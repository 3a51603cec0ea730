module Waiter = Waiter
module Waiters = Waiters
module Step = Step

type ('x, 'a) waiter = ('x, 'a) Waiter.t = {
  arg : 'x;
  choice : Waiter.choice;
  mutable resumer : ('a, exn) result -> bool;
}

type ('t, 'x, 'a) own_way = ('t, 'x, 'a) Operation.own

type ('t, 'x, 'a) spin = ('t, 'x, 'a) Operation.spin =
  | Never
  | Before
  | Enlisted
  | Enlisted_or_before
  | Indifferent
  | In_its_own_way of ('t, 'x, 'a) own_way

type ('t, 'x, 'a) how = ('t, 'x, 'a) Operation.how =
  | By_steps : {
      word : 't -> 's Atomic.t;
      step : 'x -> 's -> ('s, 'a) Step.t;
      queue : ('s, 'x, 'a) Step.queue;
      left : ('s, unit) Step.next;
    }
      -> ('t, 'x, 'a) how
  | By_hand of {
      attempt : 't -> 'x -> 'a option;
      enlist : 't -> ('x, 'a) Waiter.t -> bool;
      withdraw : 't -> ('x, 'a) Waiter.t -> unit;
    }

type holder = Holder.t

type ('t, 'x, 'a) operation = ('t, 'x, 'a) Operation.t = {
  mark : string;
  name : string;
  spin : ('t, 'x, 'a) spin;
  holders : 't -> holder list;
  state : 't -> string;
  from_outside : bool;
  undo : 't -> 'x -> 'a -> bool;
  how : ('t, 'x, 'a) how;
}

let default = Operation.default
let attempt = Operation.attempt
let wait = Operation.perform
let block = Operation.block
let withdraw = Operation.withdraw
let update = Atomically.update
