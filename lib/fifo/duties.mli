(** What a loop does beside continuing tasks.

    Each of these may be interrupted by an exception of a signal handler, and is
    then called again: nothing is lost by it, nor done twice. *)

val empty_inbox : Task.scheduler -> unit
(** Does what other threads asked for, in the order in which they did. *)

val periodic : Task.scheduler -> bool
(** Sees to what is not urgent: timers that are due, and tasks that were
    cancelled lazily. If the loop was interrupted, first stops the outermost
    scope. To be called when {!Task.scheduler.poll_at} is reached, which it puts
    off. [false] if the loop is to be left: see {!is_native}. *)

val is_native : Task.scheduler -> bool
(** Has the loop nothing to do outside of {!Host_kit.using}? *)

val last_resort : Task.scheduler -> unit
(** Nothing is ready: unwinds what was cancelled lazily; else stops the scopes
    in which a task failed for which nobody waits. *)

val is_unobserved : Task.failure -> bool
(** Has no task observed the exception? *)
