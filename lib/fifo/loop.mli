(** The loop of a scheduler. *)

val dispatch : Task.scheduler -> unit
(** Continues the first ready task, or returns if none is ready. Code that
    suspends or ends a task calls it last. *)

val begin_ : Task.scheduler -> Task.scheduler
(** Runs the function of the current task, whose wait is {!Task_types.Start},
    and returns the scheduler. Call it on the task's own stack. *)

val run : Task.scheduler -> (unit -> unit) -> unit
(** [run scheduler f] runs [f] as the first task, and the loop until the
    outermost scope is empty.

    If the host raises in the task that runs the loop, or an exception comes in
    the loop itself, the outermost scope is stopped, and the exception is
    re-raised at the end. (If it comes before the first task has started, it is
    raised at once.)

    If the loop always has something to do, it lets the other tasks of its host
    run every 10 ms. Wherever the loop leaves control to its host, it has left
    {!Registered.using}. *)
