(* Strict mode is off. *)

let before_lock () = ()
