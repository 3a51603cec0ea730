(* Time stands still, so no turn is ever long. *)
type t = unit

let create () = ()
let begin_ () = ()
let is_long () = false
