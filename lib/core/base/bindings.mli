(** Values bound to keys, in one immutable list. A host keeps one list for each
    task. *)

type 'a key

val create_key : unit -> 'a key

type t
(** The bindings of a task. They are immutable. *)

val none : t

val get : 'a key -> t -> 'a option
(** O(n) for [n] keys, as are the others. *)

val add : 'a key -> 'a -> t -> t
(** In place of the binding of that key, if there is one. *)

val remove : 'a key -> t -> t
