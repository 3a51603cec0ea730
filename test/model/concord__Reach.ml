(* What the porter takes from the library's own modules. *)

let suspend_unlisted = Reach.suspend
