(* Tasks don't spin unless a model turns spinning on, because what [Spin] learns in one
   interleaving would change the next one. *)

let spawned = ref false
let were_spawned () = !spawned
let may_be_spawning () = false
