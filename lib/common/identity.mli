(** What values are made of: all that the library takes from [Obj].

    When the program starts, the library checks what it relies on of the
    compiler's representation of functions.

    - {b Raises} [Failure] if the compiler represents them otherwise. *)

val equal : 'a -> 'b -> bool
(** Physical equality of values whose types are not known to be equal. *)

val is_immediate : 'a -> bool
(** Is the value an integer or the like, which keeps nothing alive? *)

val nothing : unit -> 'a
(** What a slot holds while it holds nothing. Never to be looked at; not for a
    slot of an array, nor of a record that has only this field or floats. *)

val same_code : ('a -> 'b) -> ('a -> 'b) -> bool
(** Do two closures of one argument run the same code? *)

val check : same_code:((int -> int) -> (int -> int) -> bool) -> unit
(** What is checked when the program starts.

    - {b Raises} [Failure] if [same_code] does not tell the same code from
      another one. *)
