(** Rounds through fresh promises, of two tasks. *)

val comparisons : Case.comparison list
