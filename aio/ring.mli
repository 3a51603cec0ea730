(** Linux's [io_uring], by way of [uring].

    See {!Multiplexer}, one of whose ways this is. Where [uring] was not
    installed there is none. *)

type 'a t
type 'a watch

val create : unit -> 'a t option
(** [None] where the system has none, or does not allow it.

    - {b Raises} [Unix.Unix_error] if no descriptor is left. *)

val close : 'a t -> unit
(** Nothing is waited for any more. *)

val watch : Unix.file_descr -> 'a -> 'a watch
val set : 'a t -> 'a watch -> read:bool -> write:bool -> unit
val is_settled : 'a t -> bool
val settle : 'a t -> unit

val wait : 'a t -> block:bool -> ('a * Revents.t) list
(** O(1) for each descriptor that is found. *)
