(** Tells a job to stop. *)

type t

val create : pool:unit Concord.Promise.t -> t
(** [pool] is filled when all jobs of a pool are told to stop. *)

val stop : t -> unit
val is_stopped : t -> bool
val stopped_evt : t -> unit Concord.Event.t
