(** Cancellations that overtake an outcome.

    A task is resumed, and continues later. On most hosts it can't be cancelled
    any more in between (H3). In a library of promises it can. The promise that
    the task waits for is still pending, and whoever cancels it may do so only
    once, so the task must not miss it.

    The task then continues with its outcome, but asks here whether it was
    cancelled. If so, it undoes the operation, and raises. *)

val may_be : unit -> bool
(** [false] if no task of the process is in this state. {b Cost}: one read. *)

val cancelled : unit -> (unit -> exn) option
(** Called by a task that was just resumed. [Some raised] if it was cancelled
    meanwhile and is not protected. [raised ()] is the exception, which the task
    must raise. If it doesn't call [raised], it gets the exception when it
    suspends the next time. *)

(** {1 For hosts} *)

type _ Effect.t +=
  | Cancelled : (unit -> exn) option Effect.t
        (** The question of {!cancelled}, in {!Concord_suspend.Ask}. *)

val enter : unit -> unit
(** A task is in this state from now on. *)

val leave : unit -> unit
(** It no longer is. *)
