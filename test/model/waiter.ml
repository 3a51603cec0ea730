(* As in the library, but [resume], which several processes read and one writes, is
   traced: the model checker takes for independent what touches no atomic in common,
   and would not try both orders. *)

type choice = bool Atomic.t

type ('x, 'a) t = {
  arg : 'x;
  choice : choice;
  mutable resume : ('a, exn) result -> bool;
  traced : unit Atomic.t;
}

let no_choice = Atomic.make false
let gone (_ : (_, exn) result) = false

let make_alternative choice arg =
  { arg; choice; resume = gone; traced = Atomic.make () }

let make arg = make_alternative no_choice arg

let is_live w =
  Atomic.get w.traced;
  w.resume != gone

let leave w =
  Atomic.set w.traced ();
  w.resume <- gone

let accepts w outcome =
  Atomic.get w.traced;
  w.resume outcome
  || begin
    leave w;
    false
  end

let of_same_choice v w = v.choice == w.choice && v.choice != no_choice
