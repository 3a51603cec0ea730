(** The cost of a task: suspending and resuming it, yielding, forking and
    joining, and the memory that it needs while it waits. *)

val group : Case.group
