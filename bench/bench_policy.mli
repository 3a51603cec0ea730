(** The effect of the order in which ready tasks run. *)

val group : Case.group
