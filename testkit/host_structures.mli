(** The clauses S1 to S5, which structures promise, to the extent that their
    tasks' host makes them true. *)

val clauses : seed:int -> (module Host_signature.HOST) -> Host_tasks.clause list
