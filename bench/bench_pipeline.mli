(** A pipeline of three stages: one task parses items, four transform them, and
    one adds up the results. Bounded queues connect the stages. The rows are
    ways to place the stages on schedulers and domains. *)

val group : Case.group

(** {2 Work} *)

val turned : int -> int -> int
(** [turned turns item] computes for that number of turns. *)

val a_microsecond : int
(** The number of turns that takes about 1 us. *)
