(** [poll(2)], by way of [iomux]: what every system has.

    See {!Multiplexer}, one of whose ways this is. *)

type 'a t
type 'a watch

val create : unit -> 'a t
val watch : Unix.file_descr -> 'a -> 'a watch
val set : 'a t -> 'a watch -> read:bool -> write:bool -> unit

val wait : 'a t -> block:bool -> ('a * Revents.t) list
(** O(n) for the [n] descriptors that are waited for. *)
