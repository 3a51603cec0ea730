(** See {!Case}. *)

val group : Case.group

val has_wrk : bool
(** Whether wrk is installed, without which some comparisons are left out. *)
