(** Cancelling one of many tasks that wait for the same. *)

val comparisons : Case.comparison list
