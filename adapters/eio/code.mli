(** Whether two closures have the same code. *)

val equal : ('a -> 'b) -> ('a -> 'b) -> bool
