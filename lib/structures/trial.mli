(** Resuming several waiters together, although each of them may refuse.

    The resumptions count only if enough waiters accept. A resumed task asks
    {!has_passed}. *)

type state
type t = state Atomic.t

val create : unit -> t
(** [create ()] returns an open trial. The task that creates it then resumes the
    waiters. *)

val passed : t
(** A trial that has passed, for a single waiter whose acceptance decides. *)

val failed : t
(** A trial that is over. *)

(** {2 Steps}

    The result is [true] if the trial has passed. *)

val pass : state -> (state, bool) Step.t
(** [pass] says that enough waiters have accepted. It returns [false] if a task
    that had accepted was cancelled since. *)

val over : state -> (state, bool) Step.t
(** [over] says that the trial has failed, and everything is as if there had
    been no trial. The tasks that wait for the outcome are told now. *)

val doubt : state -> (state, bool) Step.t
(** [doubt] says that a resumed task doesn't wait any more. After this, the
    trial can't pass, but it may have passed before. *)

(** {2 For the resumed tasks} *)

val is_passed : t -> bool
(** [is_passed t] is [true] if the trial has passed by now. *)

val has_passed : t -> bool
(** [has_passed t] suspends until the trial has passed or is {!over}. If the
    task is cancelled meanwhile, the trial fails, unless it has passed. In the
    latter case, the result is [true].

    - {b Raises} [e], the host's exception, if the trial fails because of the
      cancellation. *)
