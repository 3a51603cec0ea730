(** The ready queue of a scheduler, and its loop. *)

exception Cancelled
(** {!Concord_fifo.Cancelled}. *)

val push : Task.scheduler -> int -> unit
(** Makes the task of that number, whose wait is decided, the last of the ready
    ones. For the thread that runs the loop only. *)

val resume : Task.t -> 'a Task.decision Atomic.t -> 'a Concord.Suspend.resumer
(** What the resumer of a task does that is suspended with that decision. Any
    thread may call it; it wakes the loop if it sleeps. *)

val is_unobserved : Task.failure -> bool
(** Nobody was told of it. *)

val dispatch : Task.scheduler -> unit
(** Continues the first ready task; returns if none is ready. To be called last
    by whatever suspends or ends a task. *)

(** {2 Cancelling} *)

val cancel : Task.t -> unit
(** Any thread may call it. *)

val stop : Task.scope -> unit
(** Cancels a scope: its members, its body, and the scopes inside. Any thread
    may call it. *)

val interrupt : Task.scheduler -> Task.t -> unit
(** Does what must be done if the task is cancelled and suspended. For the
    thread that runs the loop only. *)

(** {2 Running} *)

val run : Task.scheduler -> (unit -> unit) -> unit
(** [run scheduler start] calls [start], which starts the first task, then runs
    the loop until the outermost scope is empty. If the task that runs it is
    cancelled by its host, the outermost scope is stopped, and the host's
    exception re-raised at the end.

    Wherever the loop leaves control to its host, it has left
    {!Concord.Suspend.Host.using}. *)
