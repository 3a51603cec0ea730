(** Queues with a capacity of 100 items, or of [capacity]. Groups that pass
    items between several tasks use them. *)

type t = { add : int -> unit; take : unit -> int }

val stdlib : ?capacity:int -> unit -> t
(** A queue with a mutex and two conditions of Stdlib, for threads. *)

val concord : unit -> t
(** The same program with Concord's mutex and conditions. *)

val stream : unit -> t
(** [Concord.Stream]. *)

val eio : unit -> t
(** [Eio.Stream]. *)
