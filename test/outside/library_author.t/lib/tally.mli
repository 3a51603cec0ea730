(** Counts what tasks have done, for tasks that wait for a number of it. *)

type t

val create : ?mutex:Concord_core.Mutex.t -> at_once:int -> unit -> t
(** At most [at_once] tasks may be in {!add} at the same time. *)

val add : t -> (unit -> unit) -> unit
(** [add t work] does [work], then counts it. *)

val await : t -> int -> unit
(** [await t n] returns when [n] works are done. *)

val closes_within : float -> t -> bool
(** Whether {!close} is called within so many seconds. *)

val closed : t -> unit Concord_core.Promise.t
(** It is filled by {!close}. *)

val close : t -> unit
