(** What structures promise, as far as their tasks' host makes it true: S1 to
    S5. *)

val clauses : seed:int -> (module Host_signature.HOST) -> Host_tasks.clause list
