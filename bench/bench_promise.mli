(** Messages between two tasks through fresh promises. *)

val comparisons : Case.comparison list
