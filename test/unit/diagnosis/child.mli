(** Runs other programs as children and reads their output. *)

type t

val during : ?debug:string -> string -> string -> (t -> unit) -> unit
(** [during ~debug program role f] starts the child with [CONCORD_DEBUG] set to
    [debug], or unset, and passes it to [f]. The child is killed afterwards. *)

val signal : t -> int -> unit
val tell : t -> string -> unit

val says : t -> string -> unit
(** Waits until the child has written this text to its standard output. Fails
    after 20 s. *)

val reports : t -> string -> unit
(** The same for the standard error. *)

val reported : t -> string
(** The child's whole standard error. Waits until the child has ended. *)

val so_far : t -> string
(** The child's standard error up to now. *)

val ends : t -> unit
(** Checks that the child ends with status 0. *)
