(** What channels of both directions have: a descriptor whose owner one or more
    channels share, and which is closed with the last of them; a lock; Stdlib's
    flags and exceptions.

    The channels of the standard descriptors stay with the number, whatever
    [dup2] or other channels do to it. *)

type t

val create : ?standard:bool -> Unix.file_descr -> t
(** With [~standard:true], for one of the three standard descriptors: it need
    not be open. *)

val open_ : open_flag list -> int -> string -> (Unix.file_descr -> 'a) -> 'a
(** [open_ flags perm name of_descr] is the channel that [of_descr] makes of the
    file. {b Suspends} while a worker opens it. *)

val close : t -> unit
(** Does nothing if it was closed before. The operations of this channel that
    wait raise [EBADF]; if it is the last channel, see {!Io.close}. *)

val descr : t -> Unix.file_descr
val is_file : t -> bool
val is_closed : t -> bool

(** {2 Operations} *)

val locked : t -> (unit -> 'a) -> 'a
(** An operation: the others of this channel wait until it has ended.

    - {b Raises} [Sys_error] with Stdlib's text where it raises
      [Unix.Unix_error], or if the channel is closed. *)

val read : t -> bytes -> int -> int -> int
(** {!Io.read}. *)

val write : t -> bytes -> int -> int -> int
(** {!Io.write}. *)

val length : t -> int
(** Of the file or disk. Never suspends.

    - {b Raises} [Unix.Unix_error] if there is none, as Stdlib does. *)

val first_position : t -> int option -> int
(** Where in the file a channel begins that is made at that position; as in
    Stdlib 0, or -1 by no position, if that is no file. *)

val seek : t -> int -> unit
(** As [Unix.lseek], from the beginning. Never suspends. *)
