(* The clock of [Nudge], which the tests move on. *)

let time = ref 0
let now_ns () = !time
let pass ns = time := !time + ns
