(** Async: two of its tasks. The rows are in [async/], and left out where that
    library is not installed. *)

val group : Case.group
