type choice = bool Atomic.t

type ('x, 'a) t = {
  arg : 'x;
  choice : choice;
  mutable resume : ('a, exn) result -> bool;
}

let no_choice = Atomic.make false
let gone (_ : (_, exn) result) = false
let make_alternative choice arg = { arg; choice; resume = gone }
let make arg = make_alternative no_choice arg
let[@inline] is_live w = w.resume != gone
let[@inline] leave w = w.resume <- gone

(* One that refuses was cancelled, and must not be counted as gone as well. *)
let[@inline] accepts w outcome =
  w.resume outcome
  || begin
    leave w;
    false
  end

let of_same_choice v w = v.choice == w.choice && v.choice != no_choice
