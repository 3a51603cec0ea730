(** The ready queue of a scheduler, and its loop. *)

exception Cancelled
(** {!Concord_fifo.Cancelled}. *)

val push : Task.scheduler -> Task.ready -> unit
(** Makes a task the last of the ready ones. For the thread that runs the loop
    only. *)

val resumer :
  Task.t ->
  ('a, unit) Effect.Deep.continuation ->
  Task.decision Atomic.t ->
  'a Concord.Suspend.resumer
(** The resumer of a suspended task, for any thread; wakes the loop if it
    sleeps. *)

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

(** {2 Running} *)

val run : Task.scheduler -> (unit -> unit) -> unit
(** [run scheduler start] calls [start], which forks the first task and
    dispatches, then runs the loop until the outermost scope is empty. If the
    task that runs it is cancelled by its host, the outermost scope is stopped,
    and the host's exception re-raised at the end. *)
