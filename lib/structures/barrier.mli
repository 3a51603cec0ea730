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
      must take its place. The last task asks all others whether they still
      wait. If one was cancelled, even just now, nobody goes through: those who
      were asked before it are woken in vain and wait again, in their places,
      and so does the last one. Once all have answered, all return, even if they
      are cancelled right after.
    - {b Order}: tasks go on in the order of their arrival, and in groups of [n]
      in that order. Those who come while others are still to find that they
      were woken in vain wait for these.
    - {b Cost}: O(1), and O(n) for the last one. *)

val await_evt : t -> unit Event.t
(** The event of {!await}. The task has arrived while it waits for the event; if
    another alternative of a choice is performed, it withdraws, as when it is
    cancelled. It arrives once, however often the barrier is in the choice; to
    wait costs O(number of those who have arrived).

    If the task is woken in vain, the event begins again and arrives anew, as
    the last one; a choice takes new places in its other structures as well, and
    its timeouts keep their deadlines. While the last one asks the others, and
    while one that was woken in vain has not had its turn, {!Event.poll} is
    [None], although enough others may wait. *)

val parties : t -> int
(** The [n] of {!create}. *)

val waiters : t -> int
(** How many tasks have arrived and wait. One that was cancelled counts until it
    is unwound, or refuses to go through. O(1). *)
