(** Lazy values: forced already, forced for the first time, and waited for by
    many tasks. *)

val group : Case.group
