(** Timelines in the terminal. *)

val print : Timeline.t list -> unit
(** All on one scale. *)
