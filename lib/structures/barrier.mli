(** A cyclic barrier: a number of tasks wait for each other, again and again.

    An operation without a {b Suspends} line never suspends and performs no
    effect. *)

type t

val create : int -> t
(** [create n] lets tasks through [n] at a time.

    @raise Invalid_argument if [n] is less than 1. *)

val await : t -> unit
(** [await t] returns once [n] tasks have called it since the last [n] went
    through.

    - {b Suspends} until then; the last one does not.
    - {b Cancelled} while suspended: the task has not arrived, and another one
      must take its place. A task that is cancelled at the moment when the last
      one arrives may raise although the others go through.
    - {b Order}: tasks go on in the order of their arrival.
    - {b Cost}: O(1), and O(n) for the last one. *)

val await_evt : t -> unit Event.t
(** The event of {!await}. The task has arrived while it waits for the event; if
    another alternative of a choice is performed, it withdraws, as when it is
    cancelled. It arrives once, however often the barrier is in the choice; to
    wait costs O(number of those who have arrived). *)

val parties : t -> int
(** The [n] of {!create}. *)

val waiters : t -> int
(** How many tasks have arrived and wait. O(1). *)
