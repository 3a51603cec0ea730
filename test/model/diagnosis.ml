(* Nothing is observed. *)

let link () = ()
