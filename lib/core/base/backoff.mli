(** Backing off after a failed compare-and-set, before the next try.

    If several domains change one word as fast as they can, each change fetches
    the cache line from another core, and most tries fail. If a domain that
    failed backs off for a moment, another one makes many changes in a row in
    its own cache. Use this for words that are changed and then left alone, but
    not for words by which tasks wait for each other. *)

val first : int
(** The number of processor pauses after the first failure. *)

val wait : int -> int
(** [wait pauses] takes that many pauses, of about 15 to 50 ns each. It returns
    the number for the next failure, which is twice as many, up to a limit of a
    few microseconds. *)
