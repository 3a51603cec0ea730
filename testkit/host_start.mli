(** The clauses "reach" and "turns", which all others depend on. A scheduler
    that breaks one of them hangs in nearly every other clause, so these two
    find the cause themselves. *)

val clauses : (module Host_signature.HOST) -> Host_tasks.clause list
