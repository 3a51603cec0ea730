(** What values are made of. *)

val equal : 'a -> 'b -> bool
(** Physical equality of values whose types are not known to be equal. *)

val is_immediate : 'a -> bool
(** Whether the value is an integer or the like, which keeps nothing alive. *)

val nothing : unit -> 'a
(** What a slot holds while it holds nothing. Never to be looked at. *)

val same_code : ('a -> 'b) -> ('a -> 'b) -> bool
(** Whether two closures of one argument run the same code. *)
