(** Whether a thread sleeps. A task asks this if it could hand something to a
    task of the thread, because a thread that sleeps takes microseconds to
    continue.

    A thread sleeps while it is blocked, because it waits itself, or the loop
    that runs in it has no work. If a loop sleeps by means of its own, for
    example in a system call, this is not known.

    None of these functions suspends. *)

type t
(** One for each system thread. *)

val mine : unit -> t
(** The sleeper of the calling thread. As long as no thread has ever slept it is
    {!never}, at the cost of one read. O(1). *)

val never : t
(** The sleeper of a thread that never sleeps. *)

val is_asleep : t -> bool
(** It may have been woken, or have fallen asleep, since. *)

val now_ns : unit -> int
(** A monotonic clock, for the time that a thread has been waited for. *)

val while_asleep : (unit -> 'a) -> 'a
(** [while_asleep f] is [f ()], in which the calling thread sleeps. *)
