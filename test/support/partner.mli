(** Another thread, or domain, that does what it is asked. *)

type t

val thread : unit -> t

val domain : unit -> t
(** Both block all signals. *)

val ask : t -> (unit -> unit) -> unit
(** [ask t f] lets it call [f] soon. One at a time. *)

val join : t -> unit
(** Returns when it has done so, and raises what [f] raised. *)

val stop : t -> unit
