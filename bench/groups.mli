(** Every group that there is. *)

val all : Case.group list
(** Without the rows that cannot be measured here. *)

val left_out : string option
(** Which those are, and why. *)
