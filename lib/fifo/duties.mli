(** The work of a loop besides continuing tasks.

    Unbroken: each of these functions can be called again, and nothing is lost
    or done twice. *)

val empty_inbox : Task.scheduler -> unit
(** Handles the requests of other threads, in their order. *)

val periodic : Task.scheduler -> bool
(** Does the work that is not urgent, for timers that are due, for tasks that
    were cancelled lazily, and for failures that are old. If an exception ends
    the run, it first stops the outermost scope. Call it when
    {!Task_types.scheduler.poll_at} is reached, which it moves on. It is [false]
    if the loop has to be left (see {!is_native}). *)

val is_native : Task.scheduler -> bool
(** [true] if the loop has nothing to do outside {!Registered.using}. *)

val last_resort : Task.scheduler -> unit
(** For a loop with no ready task. Unwinds the tasks that were cancelled lazily.
    If there are none, it stops the scopes in which a task failed that no task
    joins. *)

val is_unobserved : Task_types.failure -> bool
(** [true] if no task has observed the exception. *)
