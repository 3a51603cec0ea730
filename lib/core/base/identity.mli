(** Physical identity of values. This is all that the library takes from [Obj],
    except for addresses ({!Address}) and {!Attached_data}.

    When the program starts, the library checks its assumptions about the
    compiler's representation of functions.

    - {b Raises} [Failure] if the compiler represents them otherwise. *)

val equal : 'a -> 'b -> bool
(** [equal v w] is the physical equality of values whose types may differ. *)

val is_immediate : 'a -> bool
(** [is_immediate v] is [true] if [v] is an integer or another value that keeps
    nothing alive. *)

val nothing : unit -> 'a
(** [nothing ()] fills a slot that holds no value. Apply only {!is_immediate} to
    it. Don't use it in an array, nor in a record that has only this field or
    only floats. *)

(** {2 Pointers} *)

type pointer
(** A pointer to a value of any type. *)

val pointer : 'a -> pointer
(** [pointer v] returns a pointer that doesn't keep [v] alive. It costs time in
    each collection, because the collector has to visit all such pointers. *)

val strong_pointer : 'a -> pointer
(** [strong_pointer v] returns a pointer that keeps [v] alive until {!release},
    or until the pointer itself is collected. Use it if the pointer doesn't live
    longer than the value, or only for a moment. *)

val release : pointer -> unit
(** [release pointer] makes a strong pointer behave as if its target had been
    collected. *)

val viewed : 'a -> ('a -> 'b) -> pointer * (unit -> 'b option)
(** [viewed v f] returns a pointer to [v], and a function that returns
    [Some (f v)], or [None] once [v] was collected. Neither keeps [v] alive. *)

val clear_at_end : unit -> unit
(** [clear_at_end ()] makes the calling domain clear its weak pointers just
    before it ends, as OCaml needs it up to 5.4. {!val-pointer} does so. Call it
    in a domain where a user's code may make others. *)

val nowhere : pointer
(** [nowhere] is a pointer that never had a target. *)

val is_nowhere : pointer -> bool
(** [is_nowhere pointer] is [true] if it is physically {!nowhere}. *)

val is_collected : pointer -> bool
(** [is_collected pointer] is [true] if the pointer has no target, because the
    target was collected or never existed. *)

val same_target : pointer -> pointer -> bool
(** [same_target a b] is [true] if both point to the same value. It is [false]
    if either target was collected. *)

val points_to : pointer -> 'a -> bool
(** [points_to pointer v] is [true] if the target is physically [v]. *)

val target : pointer -> Obj.t option
(** The target, for {!Address} and {!Attached_data}. Nothing else may use it. *)

val weakly : 'a -> Obj.Ephemeron.t
(** An ephemeron whose key is the value. It is for {!Attached_data}, like the
    next function. *)

val of_ephemeron : Obj.Ephemeron.t -> pointer
(** A pointer to the key of the ephemeron. *)

(** {2 Closures} *)

val same_code : ('a -> 'b) -> ('a -> 'b) -> bool
(** [same_code f g] is [true] if two closures of one argument run the same code.
*)

val is_closed_over : ('a -> 'b) -> 'c -> bool
(** [is_closed_over f v] is [true] if [v] is a variable of the closure [f], and
    [v] is a block that isn't a constant. *)

val check :
  same_code:((unit -> int) -> (unit -> int) -> bool) ->
  is_closed_over:((unit -> int) -> int ref -> bool) ->
  unit
(** The check that runs when the program starts.

    - {b Raises} [Failure] if [same_code] can't tell whether two closures run
      the same code, or [is_closed_over] whether a value is a variable of one.
*)
