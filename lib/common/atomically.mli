(** Steps of an atomic that holds an immutable state. *)

val update : 's Atomic.t -> ('s -> 's) -> unit
(** [update t f] replaces the state [s] by [f s], in one step, unless [f s] is
    [s] itself. [f] is called again each time that somebody else was faster.

    For what is rare: it calls a function that is not known, which a loop of
    one's own need not do. *)
