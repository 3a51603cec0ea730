(** See {!Case}. *)

val group : Case.group

val has_wrk : bool
(** Whether wrk is installed. Without it, some comparisons are left out. *)
