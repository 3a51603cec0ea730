(* The traced atomics of a model are effects. *)

let run f = f ()
