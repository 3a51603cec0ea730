(** The tasks of a scheduler, and the scheduler itself. {!Task_types} describes
    the records. *)

open Task_types

type t = Task_types.t
type scope = Task_types.scope
type scheduler = Task_types.scheduler

module Numbers : Map.S with type key = int and type 'a t = 'a Map.Make(Int).t

exception Cancelled
(** {!Concord_fifo.Cancelled}. *)

val spun_on : 'a decision
val doomed : 'a decision
val answered : 'a decision
val cancelled : 'a decision
val no_poller : poller

val scheduler : is_lazy:bool -> scheduler
(** A new scheduler with its outermost scope, whose only member is the first
    task. *)

val current : scheduler -> t

(** {2 Exceptions of signal handlers}

    A signal handler or a finaliser runs wherever the loop allocates or polls,
    and may raise. So the loop changes these records in steps without such a
    point ([[@poll error]] makes the compiler check the longer ones). Before
    each such point, all remaining work is in the records, or an exception
    handler will do it. If an exception escapes, it is noted. *)

val note : scheduler -> exn -> unit
(** Notes the exception that was just caught, and replaces an exception that was
    noted before. The loop will stop the outermost scope, and [run] will raise
    the exception. Never raises. *)

val age : scheduler -> int
(** Grows with each turn of a task. A turn after a fork counts less, because a
    task often forks many tasks before it joins the first. *)

val is_old : scheduler -> failure -> bool
(** [true] if the task has failed long ago, so that no task is expected to join
    it. *)

val is_interrupted : scheduler -> bool

(** {2 Tasks} *)

val shields : t -> int
(** The number of [protect]s of its own that the task is in. *)

val depth_in : t -> scope -> int
(** The task's {!shields} when it entered the scope. If it is not in a further
    [protect], the scope can cancel it. *)

val shield : t -> unit
val unshield : t -> unit
val was_cancelled : t -> bool
val mark_cancelled : t -> unit

val enter_scope : t -> scope
(** A new scope, owned by the task, inside the scope that the task is in. Until
    [enter_scope] returns nothing has changed. *)

val leave_scope : t -> unit
(** The task is in the parent of its scope again. *)

val mark_observed : t -> unit
(** Notes that a task that joined it has observed the exception with which the
    task ended. Any thread may call this. *)

val is_observed : t -> bool
(** [true] if {!mark_observed} was called. Only for a task that ended with an
    exception. *)

val is_cancelled : t -> bool
(** [true] if the task must raise [Cancelled] when it suspends. *)

(** {2 Daemons} *)

val become_daemon : t -> unit
(** From now on the calling task does not keep its home from ending. It must not
    have opened a scope. *)

val is_daemon : t -> bool

val has_members : scope -> bool
(** Daemons included. *)

(** {2 Bindings} *)

val locals : t -> Bindings.t
(** Of a task that has not ended. *)

val set_locals : t -> Bindings.t -> unit

val slot : scheduler -> Locals.slot
(** The slot of its tasks, in [locals]. *)

val inherit_locals : scheduler -> t -> t -> unit
(** [inherit_locals s parent child], before the child begins. *)
