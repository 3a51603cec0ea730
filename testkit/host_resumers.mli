(** What a host promises: H1 to H4. *)

val clauses : seed:int -> (module Host_signature.HOST) -> Host_tasks.clause list
