(** Timelines in the terminal. *)

val print : Timeline.t list -> unit
(** Prints all timelines on the same scale. *)
