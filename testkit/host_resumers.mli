(** The clauses H1 to H4, which a host promises. *)

val clauses : seed:int -> (module Host_signature.HOST) -> Host_tasks.clause list
