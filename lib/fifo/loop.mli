(** The loop of a scheduler. *)

val dispatch : Task.scheduler -> unit
(** Continues the first ready task, or returns if none is ready. Code that
    suspends or ends a task calls it last. *)

val begin_ : Task.scheduler -> Task.scheduler
(** Runs the function of the current task, whose wait is {!Task.Start}, and
    returns the scheduler. Call it on the task's own stack. *)

val run : Task.scheduler -> (unit -> unit) -> unit
(** [run scheduler f] runs [f] as the first task, and the loop until the
    outermost scope is empty.

    If the host raises in the task that runs the loop, or a signal handler
    raises in the loop itself, the outermost scope is stopped, and the exception
    is re-raised at the end. (If it comes before the first task has started, it
    is raised at once.)

    In a guest, a loop that always has something to do lets the tasks of its
    host run now and then. Wherever the loop leaves control to its host, it has
    left {!Host_kit.using}. *)
