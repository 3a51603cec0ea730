(** Clauses for what a scheduler may use: the stack, the processor, and locks.
*)

val clauses : (module Host_signature.HOST) -> Host_tasks.clause list
