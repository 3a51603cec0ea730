(** Answers that expire, as an immutable map of bounded size. *)

type key = string * Message.kind
type 'v t

val empty : size:int -> 'v t
(** Holds [size] answers at most. *)

val find : 'v t -> now:float -> key -> 'v option
(** The answer, unless its time is over. O(log n). *)

val add : 'v t -> expires:float -> key -> 'v -> 'v t
(** Replaces the answer of this key. If there are too many, the one that expires
    first is dropped. O(log n). *)

val remove : 'v t -> key -> 'v t
(** O(log n). *)

val length : 'v t -> int
(** O(n). *)
