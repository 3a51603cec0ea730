(** One message from a producer to a consumer through a box for one value. This
    is the producer-consumer of "Effectively Composing Concurrency Libraries",
    Table 1. *)

val group : Case.group
