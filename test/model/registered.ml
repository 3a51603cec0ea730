(* No other scheduler runs in a model. *)

type t = unit

let create () = ()
let using () loop = loop ()
let is_innermost () = true
