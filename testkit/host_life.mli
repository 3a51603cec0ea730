(** What else belongs to a scheduler that composes with others: protection,
    turns, failures, the end. *)

val clauses : (module Host_signature.HOST) -> Host_tasks.clause list
