(* Nothing is asked for. *)

let before_lock () = ()
