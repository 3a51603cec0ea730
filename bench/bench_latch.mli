(** Counting a latch. *)

val comparisons : Case.comparison list
