(** Rendezvous, in which a sender waits for its receiver. *)

val comparisons : Case.comparison list
