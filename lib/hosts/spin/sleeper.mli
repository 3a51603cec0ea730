(** Does this thread sleep? Asked by a task that could hand something to a task
    of the thread: a thread that sleeps takes microseconds to continue.

    A thread sleeps while it is parked: it waits itself, or the loop that runs
    in it has nothing to do. A loop that sleeps by means of its own, as in a
    system call, is not known to.

    None of these functions suspends. *)

type t
(** One for each system thread. *)

val mine : unit -> t
(** That of the calling thread. As long as no thread has ever slept it is
    {!never}, at the cost of one read. O(1). *)

val never : t
(** Of a thread that never sleeps. *)

val is_asleep : t -> bool
(** It may have been woken, or have fallen asleep, since. *)

val now_ns : unit -> int
(** By the clock that nobody sets: how long somebody has been waited for. *)

val while_asleep : (unit -> 'a) -> 'a
(** [while_asleep f] is [f ()], in which the calling thread sleeps. *)
