(** Waiting for some time at most. *)

val comparisons : Case.comparison list
