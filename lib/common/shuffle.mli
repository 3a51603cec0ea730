(** Where no alternative may be preferred. *)

val below : int -> int
(** A number from 0 to before the given one, which is positive. Not for secrets.
*)
