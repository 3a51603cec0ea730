(* Nobody looks, unless a model says so: what [Spin] learns in one interleaving would change
   the next. *)

let spawned = ref false
let were_spawned () = !spawned
let may_be_spawning () = false
