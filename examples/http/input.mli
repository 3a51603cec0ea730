(** What a client has sent, and nobody has consumed yet. *)

type t

val create : Host.connection -> t

val set_limit : t -> Limit.t -> unit
(** No more is waited for once the limit is reached. Until this is called
    nothing limits the wait. *)

exception Too_late
(** The limit. *)

val length : t -> int
(** How many bytes are here. *)

val get : t -> int -> char
(** One of them, counted from the first. *)

val more : t -> unit
(** Waits for at least one more.
    @raise Too_late at the limit.
    @raise End_of_file if there are no more. *)

val take : t -> int -> string
(** Consumes that many of those that are here. *)

val skip : t -> int -> unit
(** Consumes that many, and waits for those that are not here yet, as {!more}
    does. *)
