(** Physical equality of values whose types are not known to be equal. *)

val equal : 'a -> 'b -> bool
