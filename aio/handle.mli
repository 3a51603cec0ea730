(** A channel's descriptor: one or more channels have the same owner, which is
    closed with the last of them.

    Those of the standard descriptors stay with the number, whatever [dup2] or
    other channels do to it. *)

type t

val create : ?standard:bool -> Owner.direction -> Unix.file_descr -> t
(** With [~standard:true], for one of the three standard descriptors: it need
    not be open. *)

val is_file : t -> bool
val descr : t -> Unix.file_descr

val read : t -> bytes -> int -> int -> int
(** {!Io.read}. *)

val write : t -> bytes -> int -> int -> int
(** As [Unix.single_write]; see {!Io.write}. *)

val length : t -> int
(** Of the file or disk. No operation is in progress. Never suspends.

    - {b Raises} [Unix.Unix_error] if there is none, as Stdlib does. *)

val position : t -> int option
(** In the file; [None] if it has none. Never suspends. *)

val seek : t -> int -> unit
(** As [Unix.lseek], from the beginning. No operation is in progress. Never
    suspends. *)

val is_closed : t -> bool

val close : t -> unit
(** Does nothing if it was closed before. The operations of this channel that
    wait raise [EBADF]; if it is the last channel, see {!Io.close}. *)
