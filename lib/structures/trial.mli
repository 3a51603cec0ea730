(** Resuming several waiters as one, although each may refuse: whether the
    resumptions count is known only when enough waiters have accepted. A task
    that was resumed asks {!has_passed}. *)

type t

val create : unit -> t
(** An open trial: the task that makes it now resumes waiters. *)

val passed : t
(** For a single waiter: if it accepts, that is all. *)

(** {2 For the task that makes the trial} *)

val pass : t -> bool
(** Enough have accepted. [false] if a task that had accepted was cancelled
    since; then the trial fails.

    - {b Raises} what a resumer or a signal handler raises. Called again, it
      tells the same. *)

val fail : t -> unit
(** Too few have accepted; idempotent. *)

val over : t -> unit
(** To be called after {!fail}, when all is as if there had been no trial: now
    the tasks that wait for the outcome learn it.

    - {b Raises} what a resumer raises, after that. *)

(** {2 For the tasks that were resumed} *)

val has_passed : t -> bool
(** Suspends until the trial has passed or is {!over}. If the task is cancelled
    meanwhile, the trial fails, unless it has passed: then the result is [true].

    - {b Raises} [e] the host's exception, if the trial fails so. *)
