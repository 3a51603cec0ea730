type choice = bool Atomic.t

type ('x, 'a) t = {
  arg : 'x;
  choice : choice;
  mutable resumer : ('a, exn) result -> bool;
}

let no_choice = Atomic.make false
let withdrawn (_ : (_, exn) result) = false
let leaving (_ : (_, exn) result) = false
let make_alternative choice arg = { arg; choice; resumer = withdrawn }
let make arg = make_alternative no_choice arg
let make_live resumer = { arg = (); choice = no_choice; resumer }
let accept (_ : (_, exn) result) = true
let make_willing arg = { arg; choice = no_choice; resumer = accept }
let[@inline] is_withdrawn w = w.resumer == withdrawn
let[@inline] is_live w = w.resumer != withdrawn && w.resumer != leaving
let[@inline] is_present w = is_live w && not (Atomic.get w.choice)
let[@inline] mark_leaving w = w.resumer <- leaving
let[@inline] mark_withdrawn w = w.resumer <- withdrawn

(* When a waiter is resumed, it is already out of its queue. If it refuses, or if its task gets
   an exception, that task withdraws the waiter. This would count it as withdrawn although it
   is in no queue. So the waiter is marked as withdrawn, and the task then doesn't count it.
   For an exception it is marked before the resumer is called, because afterwards the task may
   already be running. *)
let[@inline] resume w outcome =
  let resumer = w.resumer in
  (match outcome with Ok _ -> () | Error _ -> mark_withdrawn w);
  resumer outcome
  || begin
    mark_withdrawn w;
    false
  end

let[@inline] is_alternative w = w.choice != no_choice
let of_same_choice v w = v.choice == w.choice && is_alternative v
let will_refuse w ~to_ = (not (is_live w)) || of_same_choice w to_
