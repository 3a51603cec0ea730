(** The state of a {!Rwlock}, and letting those in who wait. *)

type mode = Read | Write

type state = {
  holders : int;
  first : (mode, unit) Waiters.t;
  second : (mode, unit) Waiters.t;
}

val writer : int
(** The [holders] of a lock that is held to write. *)

val free : state

val admits : state -> mode -> bool
(** May one more hold it, those who wait aside? *)

val with_one_more : state -> mode -> state
val with_one_less : state -> state

val settle : state Atomic.t -> unit
(** To be called after each step by which a waiter may come in.

    - {b Raises} what a resumer or a signal handler raised, after all that can
      come in have. *)
