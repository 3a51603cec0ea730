(** The common part of [Channel] and the channels of {!Concord.Event}. [Channel]
    describes the functions. *)

type 'a t

val create : ?name:string -> unit -> 'a t
val try_send : 'a t -> 'a -> bool
val try_receive : 'a t -> 'a option
val sending : ('a t, 'a, unit) Structure_kit.operation
val receiving : ('a t, unit, 'a) Structure_kit.operation
val send : 'a t -> 'a -> unit
val receive : 'a t -> 'a
val close : 'a t -> unit
val is_closed : 'a t -> bool
val waiters : 'a t -> int
val drain : 'a t -> 'a list
