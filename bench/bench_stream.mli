(** Bounded streams, of capacities from 1 to 10,000. *)

val comparisons : Case.comparison list
