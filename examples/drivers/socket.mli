(** A connection with a buffer for reading and one for writing. One task uses it
    at a time. *)

type t

val connect : Unix.sockaddr -> t
(** [connect address] is a new connection. If it fails or is cancelled, nothing
    stays open. *)

val of_descr : Unix.file_descr -> t
(** [of_descr fd] is the connection of the socket [fd], which {!close} closes.
*)

val close : t -> unit
(** [close t] closes the socket, also in a cancelled task. It drops what was not
    flushed. *)

val refill : t -> [ `Ok | `Eof ]
(** [refill t] reads more into the buffer. It suspends until something comes. *)

val with_buffer : t -> f:(string -> pos:int -> len:int -> 'a * int) -> 'a
(** [with_buffer t ~f] calls [f] with what was read and not yet consumed. [f]
    returns how many bytes it consumes. It must not keep the string. *)

val line : t -> string option
(** [line t] is the next line, without its end, or [None] at the end of file. *)

val read : t -> int -> string
(** [read t n] is at least one byte and at most [n], or [""] at the end of file.
*)

val really_read : t -> int -> string
(** [really_read t n] is exactly [n] bytes.

    - {b Raises} [End_of_file] if fewer come. *)

val write : t -> string -> unit
(** [write t s] adds [s] to the buffer, and sends the buffer if it is long. *)

val flush : t -> unit
(** [flush t] sends all that was written. *)
