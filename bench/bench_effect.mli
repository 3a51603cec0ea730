(** The steps of an effect: what each costs, through how many handlers, and on
    which host. *)

val group : Case.group
