(** What one thread waits on, once.

    Each parker has a condition variable of its own, so that waking one thread
    wakes no other. *)

type t

val create : unit -> t
(** For the calling thread. *)

val await : t -> unit
(** Blocks the calling thread until {!release} was called, and no longer.

    - {b Raises} [e] what a signal handler raises meanwhile. *)

val release : t -> unit
(** Lets {!await} return, now or later. Any thread may call it, several times;
    so may a signal handler or finaliser that interrupts {!await}. If it raises
    what a signal handler raises meanwhile, it has released nevertheless. *)
