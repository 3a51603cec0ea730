(** The cost of making an operation an event, of choosing between several
    events, and of a timeout. *)

val group : Case.group
