(** What it costs to have waits kept, and to trace, beside neither. *)

val group : Case.group
