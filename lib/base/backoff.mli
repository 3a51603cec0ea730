(** What to do after a compare-and-set has failed, before the next try.

    Where several domains change one word as fast as they can, each change
    fetches its line from the core that changed it last, and most tries fail.
    Who has failed keeps off it for a moment: then the other makes many changes
    in a row, in its own cache. For words that are changed and left alone, not
    for those by which tasks wait for each other. *)

val first : int
(** For how many pauses of the processor after the first failure. *)

val wait : int -> int
(** [wait pauses] takes so many pauses, some 15 to 50 ns each. Returns how many
    it should be after the next failure: twice as many, up to a bound that is a
    few microseconds. *)
