(** A slot in the queue of a condition.

    A task takes a slot before it checks the state it waits for. This way, it
    doesn't miss a wake-up during the check. One task owns a slot, and calls the
    following functions. None of them suspends or performs an effect. *)

type t

val make : Wakes.t -> t
(** [make wakes] returns a slot that is not in the queue yet. *)

val make_again : Wakes.t -> t
(** [make_again wakes] does the same as {!make}, but reuses the memory of the
    last {!give_back} on this domain. *)

val give_back : t -> unit
(** [give_back t] makes [t] available to {!make_again}. Call it if the task has
    found a [Signal] in the slot without having waited in it, and doesn't use
    the slot any more. *)

val enter : t -> unit
(** [enter t] puts [t] at the end of the queue. Afterwards, the task has to
    leave the slot. If the task was woken in the slot and needs the wake-up, it
    forgets the slot instead.

    Unbroken: if it raises, [t] isn't in the queue. *)

val nowhere : t
(** The slot of a task without one. You can leave it. *)

val is_unwoken : t -> bool
(** [is_unwoken t] is [true] if [t] is in the queue and the task has never
    waited in it. In this case, the task may check its state from this slot once
    more. *)

val check : t -> Wakes.wake option
(** [check t] is the slot's wake-up. *)

val wait : t -> (unit, Wakes.wake) Waiter.t -> bool
(** [wait t waiter] lets a wake-up resume the waiter from now on. It is the
    [enlist] of an operation. It returns [false] if a wake-up has already come,
    or if the task waits or has left. *)

val leave : t -> unit
(** [leave t] says that the task needs no wake-up, or no longer needs one. If
    the task has got a signal, the signal is passed on. Later signals don't come
    to this slot. A second call does nothing.

    Unbroken if the caller calls it again when it raises. *)
