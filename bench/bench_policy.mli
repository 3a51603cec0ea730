(** Which of the ready tasks is next, and what that changes. *)

val group : Case.group
