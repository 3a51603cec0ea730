(** A barrier that several tasks pass again and again. *)

val comparisons : Case.comparison list
