(** Queues with room for 100 items, or so many, as the groups measure them that
    pass items between several tasks. *)

type t = { add : int -> unit; take : unit -> int }

val stdlib : ?capacity:int -> unit -> t
(** A queue, a mutex and two conditions of Stdlib, for threads. *)

val concord : unit -> t
(** The same program with Concord's mutex and conditions. *)

val stream : unit -> t
(** [Concord.Stream]. *)

val eio : unit -> t
(** [Eio.Stream]. *)
