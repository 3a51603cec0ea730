(** Read-write locks. *)

val comparisons : Case.comparison list
