(** Waiting with a timeout. *)

val comparisons : Case.comparison list
