(** Resuming several waiters as one, although each may refuse. Whether the
    resumptions count is known only when enough waiters have accepted. A task
    that was resumed asks {!has_passed}. *)

type state
type t = state Atomic.t

val create : unit -> t
(** An open trial: the task that makes it now resumes waiters. *)

val passed : t
(** For a single waiter, whose acceptance decides. *)

val failed : t
(** One that is over. *)

(** {2 Steps}

    The result is whether the trial has passed. *)

val pass : state -> (state, bool) Step.t
(** Enough have accepted. [false] if a task that had accepted was cancelled
    since. *)

val over : state -> (state, bool) Step.t
(** The trial has failed, and all is as if there had been no trial. Now the
    tasks that wait for the outcome learn it. *)

val doubt : state -> (state, bool) Step.t
(** A task that was resumed doesn't wait any more. The trial can't pass after
    this, but may have passed before. *)

(** {2 For the tasks that were resumed} *)

val is_passed : t -> bool
(** Has it passed by now? *)

val has_passed : t -> bool
(** Suspends until the trial has passed or is {!over}. If the task is cancelled
    meanwhile, the trial fails, unless it has passed: then the result is [true].

    - {b Raises} [e] the host's exception, if the trial fails so. *)
