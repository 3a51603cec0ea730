(** A value that changes, and tasks that follow it. *)

val comparisons : Case.comparison list
