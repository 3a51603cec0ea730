(** Choosing among the same alternatives again and again. *)

type 'a t
(** The alternatives of one task, for one round after the other. *)

val make : next:int -> 'a Choice.alternative array -> 'a t
(** [make ~next alternatives] begins its first round with the alternative of
    index [next], if there is one. *)

val perform : 'a t -> 'a Choice.chosen
(** [perform t] does the same as {!Choice.perform_any}, with two differences. It
    tries the alternatives in their order, beginning behind the one that was
    last found ready. And if it has to suspend, it doesn't spin before
    ({!Operation.wait}). *)

val next : 'a t -> int
(** [next t] is the index with which the next round begins. *)
