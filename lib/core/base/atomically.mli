(** Changing an atomic that holds an immutable state. *)

val update : 's Atomic.t -> ('s -> 's) -> unit
(** [update t f] replaces the state [s] by [f s] in one step, unless [f s] is
    [s] itself. If another task was faster, it calls [f] again.

    Use it for rare changes, because it calls an unknown function, which a loop
    of your own doesn't have to do. *)

val update_surely : 's Atomic.t -> ('s -> 's) -> unit
(** [update_surely t f] is {!update}, unbroken. Use it for changes that no other
    code would repeat. [f] must not raise. *)

(** {2 Backing off after a failed compare-and-set}

    If several domains change one word as fast as they can, each change fetches
    the cache line from another core, and most tries fail. If a domain that
    failed backs off for a moment, another one makes many changes in a row in
    its own cache. Use this for words that are changed and then left alone, but
    not for words by which tasks wait for each other. *)

val first_pauses : int
(** The number of processor pauses after the first failure. *)

val back_off : int -> int
(** [back_off pauses] takes that many pauses, of about 15 to 50 ns each. It
    returns the number for the next failure, which is twice as many, up to a
    limit of a few microseconds. *)
