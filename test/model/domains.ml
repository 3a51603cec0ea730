(* Tasks don't spin unless a model turns spinning on, because what [Spin] learns in one
   interleaving would change the next one. *)

let spawned = ref false
let were_spawned () = !spawned
let may_be_spawning () = false

(* The busy workers of the model fill no cores, so that tasks spin as the model says. *)

let count = ref 0
let one_more_worker () = incr count
let one_less_worker () = decr count
let fill_cores () = false
