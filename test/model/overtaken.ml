(* In a model, no cancellation overtakes an outcome. The scenarios undo operations themselves. *)

let may_be () = false
let cancelled () : (unit -> exn) option = None
