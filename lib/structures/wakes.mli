(** The queue of tasks that wait for a condition, and the wake-ups for them.
    None of these functions suspends or performs an effect. *)

type wake = Signal | Broadcast
type t = (unit, wake) Waiters.t Atomic.t

val create : unit -> t
val signal : t -> unit
val broadcast : t -> unit

val push : t -> (unit, wake) Waiter.t -> unit
(** [push t waiter] adds a waiter at the end.

    Unbroken: if it raises, it has added no waiter. *)

val waiters : t -> int
