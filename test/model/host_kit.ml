(* No other scheduler runs in a model. *)

module Decision = Decision

type t = unit

let create () = ()
let using () loop = loop ()
let is_innermost () = true
let weakly resumer = resumer
