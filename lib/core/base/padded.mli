(** Atomics with a cache line of their own. *)

val atomic : 'a -> 'a Atomic.t
(** [atomic v] returns an atomic that shares its cache line with no other.

    Use it if one domain writes an atomic while another domain writes its
    neighbours. The collector puts blocks of one size side by side, so two
    atomics often share a line. Then each write of one of them takes the line
    from the other domain. The atomic takes 17 words instead of 2. Before OCaml
    5.2 it is an ordinary atomic. *)
