(** What it costs to make an operation an event, to choose between several, and
    to stop waiting after some time. *)

val group : Case.group
