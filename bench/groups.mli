(** Every group that there is. *)

val all : Case.group list
(** Without the rows that cannot be measured here. *)

val left_out : string list
(** Which those are, and why. *)
