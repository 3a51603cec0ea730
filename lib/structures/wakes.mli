(** The tasks that wait for a condition, and what wakes them. None of these
    functions suspends or performs an effect. *)

type wake = Signal | Broadcast
type t = (unit, wake) Waiters.t Atomic.t

val create : unit -> t
val signal : t -> unit
val broadcast : t -> unit

val push : t -> (unit, wake) Waiter.t -> unit
(** Adds a waiter at the end.

    - {b Raises} what a signal handler raises, and then has added none. *)

val waiters : t -> int
