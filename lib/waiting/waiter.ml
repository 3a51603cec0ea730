type choice = bool Atomic.t

type ('x, 'a) t = {
  arg : 'x;
  choice : choice;
  mutable resumer : ('a, exn) result -> bool;
}

let no_choice = Atomic.make false
let gone (_ : (_, exn) result) = false
let leaving (_ : (_, exn) result) = false
let make_alternative choice arg = { arg; choice; resumer = gone }
let make arg = make_alternative no_choice arg
let make_live resumer = { arg = (); choice = no_choice; resumer }
let[@inline] has_left w = w.resumer == gone
let[@inline] is_live w = w.resumer != gone && w.resumer != leaving
let[@inline] mark_leaving w = w.resumer <- leaving
let[@inline] mark_gone w = w.resumer <- gone

(* A waiter that refuses is out of its queue already: marked as gone, it does not
   withdraw as well, which would count it twice. *)
let[@inline] resume w outcome =
  w.resumer outcome
  || begin
    mark_gone w;
    false
  end

let[@inline] is_alternative w = w.choice != no_choice
let of_same_choice v w = v.choice == w.choice && is_alternative v
let will_refuse w ~to_ = (not (is_live w)) || of_same_choice w to_
