(* A model runs in one process, which never forks. *)

let generation () = 0
