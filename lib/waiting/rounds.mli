(** Choosing again and again. *)

type 'a t
(** The same alternatives for one round after the other, of one task. *)

val make : next:int -> 'a Choice.alternative array -> 'a t
(** The first round begins with the alternative of the index [next], if there is
    one. *)

val perform : 'a t -> 'a Choice.chosen
(** As {!Choice.perform_any}, but tries the alternatives in their order,
    beginning behind the one that was found ready last; and suspends without
    spinning before ({!Operation.wait}). *)

val next : 'a t -> int
(** Where the next round begins. *)
