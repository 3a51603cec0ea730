(** Which domains there are, and how many of them run the jobs of pools. *)

val were_spawned : unit -> bool
(** [true] if a domain was ever spawned. It stays so. One read. *)

val may_be_spawning : unit -> bool
(** [true] if the first spawn began less than 0.2 s ago. Then the threads that
    it brings may not be there yet, and OCaml doesn't say when they are. *)

(** {2 Workers}

    No thread spins on a core that a worker needs.

    A worker counts from the moment when another thread wakes it, because it
    then needs a core. It doesn't count while it sleeps, or spins before that. A
    job that blocks its domain in a system call counts. *)

val one_more_worker : unit -> unit
(** A worker was woken, or starts. Unbroken. *)

val one_less_worker : unit -> unit
(** A worker is about to sleep, or ends. Unbroken. *)

val fill_cores : unit -> bool
(** [true] while there are at least as many busy workers as cores. One read. *)

val workers : unit -> int
(** For tests. *)
