(** Other programs, run as children, and what they write. *)

type t

val during : ?debug:string -> string -> string -> (t -> unit) -> unit
(** [during ~debug program role f]: [f] is given the child, in which
    [CONCORD_DEBUG] is [debug], or not set. It is killed afterwards. *)

val signal : t -> int -> unit
val tell : t -> string -> unit

val says : t -> string -> unit
(** Waits until it has written that to its standard output; it fails if that
    takes longer than 20 s. *)

val reports : t -> string -> unit
(** The same of its standard error. *)

val reported : t -> string
(** All of it, once the child has ended. *)

val so_far : t -> string
(** All of it until now. *)

val ends : t -> unit
(** With status 0. *)
