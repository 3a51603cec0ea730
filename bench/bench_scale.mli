(** How the cost of an operation grows with the number of tasks, structures,
    timeouts, alternatives, threads or domains. *)

val group : Case.group
