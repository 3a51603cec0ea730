(* The threads of a model sleep when the model says so. *)

type t = Never | Asleep

let asleep = ref false
let time = ref 0
let never = Never
let mine () = if !asleep then Asleep else Never
let is_asleep t = t == Asleep

(* How much time passes between two readings of the clock. *)
let step_ns = ref 0

let now_ns () =
  time := !time + !step_ns;
  !time

let while_asleep f = f ()
