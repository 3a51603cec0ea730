(* Each process draws its own sequence, which is always the same. So two choices that start
   again don't do so in lockstep. A scenario can be tried with several seeds. *)

exception Too_often

let seed = ref 0
let draws = Array.make 8 0

(* How often a process may draw. Two choices that hinder each other start again, and the model
   checker would find the interleaving in which they do so forever. *)
let most = ref max_int
let reset () = Array.fill draws 0 8 0
let fraction () = 0
let rest (_ : int) (_ : int) = 0

(* This draws a number itself instead of using the fraction, so that each position in an order
   comes from the sequence. *)
let below n (_ : int) =
  let process = !Atomic.current in
  let drawn = draws.(process) in
  if drawn = !most then raise Too_often;
  draws.(process) <- drawn + 1;
  (!seed + process + (drawn / (process + 2))) mod n
