(** How many domains run the jobs of pools, so that no thread spins on a core
    that a worker needs.

    A worker counts from the moment when another thread wakes it, because it
    then needs a core. It doesn't count while it sleeps, or spins before that. A
    job that blocks its domain in a system call counts. *)

val one_more : unit -> unit
(** A worker was woken, or starts. Unbroken. *)

val one_less : unit -> unit
(** A worker is about to sleep, or ends. Unbroken. *)

val fill_cores : unit -> bool
(** [true] while there are at least as many busy workers as cores. One read. *)

val workers : unit -> int
(** For tests. *)
