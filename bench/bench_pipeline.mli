(** A pipeline of three stages: one task parses items, four transform them, and
    one adds up the results. Bounded queues connect the stages. The rows are
    ways to place the stages on schedulers and domains. *)

val group : Case.group
