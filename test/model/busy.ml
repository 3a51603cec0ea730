(* How many workers of the model are busy. They fill no cores, so that tasks spin as the model
   says. *)

let count = ref 0
let one_more () = incr count
let one_less () = decr count
let fill_cores () = false
