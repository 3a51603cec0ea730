(** The loop of a scheduler. *)

val dispatch : Task.scheduler -> unit
(** Continues the first ready task; returns if none is ready. To be called last
    by whatever suspends or ends a task. *)

val run : Task.scheduler -> (unit -> unit) -> unit
(** [run scheduler start] calls [start], which starts the first task, then runs
    the loop until the outermost scope is empty. If the task that runs it is
    cancelled by its host, the outermost scope is stopped, and the host's
    exception re-raised at the end.

    Wherever the loop leaves control to its host, it has left
    {!Suspend.Host.using}. *)

val is_unobserved : Task.failure -> bool
(** Nobody was told of it. *)
