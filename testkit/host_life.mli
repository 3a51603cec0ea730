(** Clauses for other features of a scheduler that composes with others. These
    are protection, turns, failures, and the end. *)

val clauses : (module Host_signature.HOST) -> Host_tasks.clause list
