(** What a task costs: suspending and resuming it, yielding, forking and
    joining, and the memory that it holds while it waits. *)

val group : Case.group
