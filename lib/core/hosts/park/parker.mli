(** A one-shot event on which one thread waits.

    Each parker has a condition variable of its own, so that waking one thread
    wakes no other. *)

type t

val create : unit -> t
(** For the calling thread. *)

val await : t -> unit
(** Blocks the calling thread until {!release} was called, and no longer.

    - {b Raises} [e] if a signal handler raises [e] meanwhile. *)

val release : t -> unit
(** Lets {!await} return, now or later. Any thread may call it, several times.
    So may a signal handler or finaliser that interrupts {!await}. If it raises
    the exception of a signal handler, it has released nevertheless. *)
