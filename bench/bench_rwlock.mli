(** Read-write locks that are free. *)

val comparisons : Case.comparison list
