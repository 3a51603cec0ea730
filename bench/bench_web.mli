(** See {!Case}. *)

val group : Case.group
