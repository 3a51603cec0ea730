(** Jobs that tasks give to two domains, and wait for. The rows are pools of
    domains, and what you can build without one. *)

val group : Case.group
