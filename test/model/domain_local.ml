(* A model has no stack to spare. *)

let make = Domain.DLS.new_key
let get = Domain.DLS.get
