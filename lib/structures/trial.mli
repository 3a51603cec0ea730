(** Resuming several waiters who may refuse, as one: whether it counts is known
    only when enough have accepted. Who was resumed asks {!has_passed}. *)

type t

val create : unit -> t
(** Open: who makes the trial now resumes waiters. *)

val passed : t
(** For a single waiter: if it accepts, that is all. *)

(** {2 For who makes the trial} *)

val pass : t -> bool
(** Enough have accepted. [false] if somebody who had accepted was cancelled
    since; then it fails. *)

val fail : t -> unit
(** Too few have accepted; idempotent. *)

val over : t -> unit
(** To be called after {!fail}, when all is as if there had been no trial: now
    those who wait for the outcome are told. *)

(** {2 For who was resumed} *)

val has_passed : t -> bool
(** Suspends until the trial has passed or is {!over}. If the task is cancelled
    meanwhile, the trial fails, unless it has passed: then the result is [true].
    @raise e the host's exception, in the first case. *)
