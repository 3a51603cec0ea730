(** What has come of those who waited, and of what they had. *)

open Operation_scene

val conserved : t -> unit
(** At rest, when nobody waits: takes out what is left, and fails unless each
    number that went in came out, once. *)

val served : ?in_order:bool -> t -> waiter list -> unit
(** Fails unless these and no others went on, [~in_order:true] in this order,
    and nothing was lost ({!conserved}). *)

val counted : t -> int -> unit
(** Fails unless the structure says that so many wait, if it says so at all. *)

val bounded : t -> unit
(** At rest, when nobody waits: takes out what is left, and fails unless as many
    can come without waiting as in a structure that is new. It leaves the
    structure full. For [Gives] only; otherwise it does nothing. *)
