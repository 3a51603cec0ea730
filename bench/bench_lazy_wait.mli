(** Many tasks that wait for one lazy value. *)

val comparisons : Case.comparison list
