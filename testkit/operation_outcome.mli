(** Checks of the outcomes of waiting tasks, and of the items that they had. *)

open Operation_scene

val conserved : t -> unit
(** At rest, when no task waits, this takes out the remaining items, and fails
    unless each number that went in came out, once. *)

val served : ?in_order:bool -> t -> waiter list -> unit
(** Fails unless these waiters and no others continued, with [~in_order:true] in
    this order, and nothing was lost ({!conserved}). *)

val counted : t -> int -> unit
(** Fails unless the structure reports this number of waiting tasks, if it
    reports any. *)

val bounded : t -> unit
(** At rest, when no task waits, this takes out the remaining items. It fails
    unless the structure then accepts as many without waiting as a new one. It
    leaves the structure full. For [Gives] only. Otherwise it does nothing. *)
