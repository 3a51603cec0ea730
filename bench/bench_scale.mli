(** How the cost of an operation grows: with the number of tasks, structures,
    timeouts, alternatives, threads and domains. *)

val group : Case.group
