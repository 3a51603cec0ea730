(** Waiting with a timeout, and functions with a timeout or several attempts. *)

val comparisons : Case.comparison list
