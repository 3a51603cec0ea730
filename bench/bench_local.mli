(** Values that follow a task, beside those that end with their host. *)

val group : Case.group
