(** A value that is computed once, by the first task that asks for it. *)

type 'a t

val create : (unit -> 'a) -> 'a t
val get : 'a t -> 'a
