(** Steps of an atomic that holds an immutable state. *)

val update : 's Atomic.t -> ('s -> 's) -> unit
(** [update t f] replaces the state [s] by [f s], in one step, unless [f s] is
    [s] itself. [f] is called again each time that somebody else was faster.

    For what is rare: it calls a function that is not known, which a loop of
    one's own need not do. *)

val update_surely : 's Atomic.t -> ('s -> 's) -> unit
(** As {!update}, also if a signal handler raises meanwhile: for what nobody
    would do again. [f] must not raise.

    - {b Raises} what a signal handler raised, after the update. *)
