(* The host of the model knows its tasks, so no handler has to answer for them. *)

let task = Reach.who
let within f = f (task ())
let is_certain (_ : Who.t) = true
