(** Clauses for loops inside loops, and beside one another. *)

val clauses : (module Host_signature.HOST) -> Host_tasks.clause list
