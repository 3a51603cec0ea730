(** A slot in the queue of a condition, which a task takes before it looks at
    what it waits for: a wake-up that comes while it looks is not missed.

    One task owns a slot, and calls the functions below. None of them suspends
    or performs an effect. *)

type t

val make : Wakes.t -> t
(** A slot that is not in the queue yet. *)

val make_again : Wakes.t -> t
(** As {!make}, from what the last {!give_back} of this domain has left. *)

val give_back : t -> unit
(** The task has found a [Signal] in the slot without having waited in it, and
    does not use the slot any more. *)

val enter : t -> unit
(** Puts the slot at the end of the queue. From then on it is to be left, or to
    be forgotten by a task that was woken in it and needs that.

    - {b Raises} what a signal handler raises, and then is not in the queue. *)

val nowhere : t
(** For a task that has no slot. It may be left. *)

val is_unwoken : t -> bool
(** Is it in the queue, and was it never waited in? Then the task may look from
    it once more. *)

val check : t -> Wakes.wake option
(** The wake-up that has come to the slot. *)

val wait : t -> (unit, Wakes.wake) Waiter.t -> bool
(** From now on a wake-up resumes the waiter: for the [enlist] of an operation.
    [false] if one has come already, or the task waits or has left. *)

val leave : t -> unit
(** The task needs no wake-up, or none any more. A signal that it has got is
    passed on; one that comes later does not come to it. It has no effect if it
    is called again.

    - {b Raises} what a signal handler raises. Then it is to be called again. *)
