(** The cost of keeping waits and of tracing, compared with doing neither. *)

val group : Case.group
