(* The models have no signals. *)

type mask = unit

let while_blocked f = f ()
let under () f = f ()
let set () = ()
