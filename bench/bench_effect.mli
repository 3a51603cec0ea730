(** The cost of each step of an effect, on each host, and through several
    handlers. *)

val group : Case.group
