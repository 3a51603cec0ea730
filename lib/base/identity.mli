(** What values are made of: all that the library takes from [Obj].

    When the program starts, the library checks what it relies on of the
    compiler's representation of functions.

    - {b Raises} [Failure] if the compiler represents them otherwise. *)

val equal : 'a -> 'b -> bool
(** Physical equality of values whose types are not known to be equal. *)

val is_immediate : 'a -> bool
(** Is the value an integer or the like, which keeps nothing alive? *)

val nothing : unit -> 'a
(** What a slot holds while it holds nothing. Never to be looked at, but by
    {!is_immediate}; not for a slot of an array, nor of a record that has only
    this field or floats. *)

(** {2 Pointers} *)

type pointer
(** To a value of any type. *)

val pointer : 'a -> pointer
(** The value is not kept alive. {b Cost}: the collector has to go through all
    such pointers. *)

val strong_pointer : 'a -> pointer
(** The value is kept alive until {!release}, or until the pointer itself is
    collected. For what lives no longer than the value, or only for a moment. *)

val release : pointer -> unit
(** From now on a strong pointer is as if its target had been collected. *)

val viewed : 'a -> ('a -> 'b) -> pointer * (unit -> 'b option)
(** [viewed v f] is a pointer to [v], and a function that gives [f v], or [None]
    once [v] was collected. Neither keeps [v] alive. *)

val nowhere : pointer
(** To nothing, from the start. *)

val is_nowhere : pointer -> bool
(** Is it {!nowhere}, physically? *)

val is_collected : pointer -> bool
(** Does it point to nothing any more, or did it never? *)

val same_target : pointer -> pointer -> bool
(** [false] if what either points to was collected. *)

val points_to : pointer -> 'a -> bool
(** Is this the value, physically? *)

val numbers : pointer array -> int array
(** Numbers from 0 on, the same for the same target, and -1 for what was
    collected. {b Cost}: O(n), and a minor collection. *)

type 'a attached
(** Something of type ['a] that belongs to a value of any type. It may refer to
    that value, and does not keep it alive. {b Cost}: as {!val-pointer}. *)

val attach : 'v -> 'a -> 'a attached

val attach_to_target : pointer -> 'a -> 'a attached option
(** [None] if what is pointed to was collected. *)

val attached_to : pointer -> 'a attached -> 'a option
(** [None] if it belongs to another value than the one that is pointed to, or if
    that was collected. *)

val owner : 'a attached -> pointer
(** To the value that it belongs to. *)

val attached : 'a attached -> 'a option
(** [None] if that was collected. *)

val is_useless : 'a attached -> bool
(** Was the value that it belongs to collected? *)

(** {2 Closures} *)

val same_code : ('a -> 'b) -> ('a -> 'b) -> bool
(** Do two closures of one argument run the same code? *)

val check : same_code:((int -> int) -> (int -> int) -> bool) -> unit
(** What is checked when the program starts.

    - {b Raises} [Failure] if [same_code] does not tell the same code from
      another one. *)
