(** Conditions: two tasks that wait for each other in turn. *)

val comparisons : Case.comparison list
