(** Messages between two tasks of Async. The rows are in [async/], and left out
    if that library is not installed. *)

val group : Case.group
