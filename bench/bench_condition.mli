(** Conditions, by which two tasks wait for each other in turn. *)

val comparisons : Case.comparison list
