(* What each process draws is a sequence of its own, always the same: two choices
   that begin again do not so in lockstep. A scenario can be tried with several
   seeds. *)

exception Too_often

let seed = ref 0
let draws = Array.make 8 0

(* How often a process may draw. Two choices that hinder each other begin again, and
   the model checker finds how they do so for ever. *)
let most = ref max_int
let reset () = Array.fill draws 0 8 0
let fraction () = 0
let rest (_ : int) (_ : int) = 0

(* Drawn here, and not from the fraction: so each place in an order is one of the sequence. *)
let below n (_ : int) =
  let process = !Atomic.current in
  let drawn = draws.(process) in
  if drawn = !most then raise Too_often;
  draws.(process) <- drawn + 1;
  (!seed + process + (drawn / (process + 2))) mod n
