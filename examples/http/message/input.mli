(** The bytes that a client has sent, and that the server has not consumed yet.
*)

type t

val create : (unit -> string) -> t
(** [create read] gets its bytes by [read]. It waits for at least one byte, and
    returns [""] at the end of the input. If it raises, for example at a time
    limit, so do the functions below. *)

val length : t -> int
(** The number of bytes that can be consumed without waiting. *)

val get : t -> int -> char
(** The byte at this index. *)

val more : t -> unit
(** Waits for at least one more byte.

    @raise End_of_file at the end of the input. *)

val take : t -> int -> string
(** Consumes this number of bytes, which must have arrived already. *)

val read : t -> int -> string
(** Consumes this number of bytes, and waits for the missing ones like {!more}.
*)

val skip : t -> int -> unit
(** The same without the result. *)
