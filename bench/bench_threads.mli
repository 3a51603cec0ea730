(** System threads that share a lock or a queue, and hold it across something
    slow: against what Stdlib has for them. *)

val group : Case.group
