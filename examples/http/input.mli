(** The bytes that a client has sent, and that the server has not consumed yet.
*)

type t

val create : Host.connection -> t

val set_limit : t -> Limit.t -> unit
(** Sets the limit for waiting. Before the first call, waiting is not limited.
*)

exception Too_late
(** The limit was reached. *)

val length : t -> int
(** The number of bytes that can be read without waiting. *)

val get : t -> int -> char
(** The byte at this index. *)

val more : t -> unit
(** Waits for at least one more byte.

    @raise Too_late at the limit.
    @raise End_of_file at the end of the input. *)

val take : t -> int -> string
(** Consumes this number of bytes, which must have arrived already. *)

val skip : t -> int -> unit
(** Consumes this number of bytes, and waits for the missing ones like {!more}.
*)
