(** A descriptor that is closed once, and not before the operations on it have
    ended: its number is never another file's for them. *)

type t

val create : shared:bool -> Unix.file_descr -> t
(** With [~shared:true] the descriptor, unless it is a file's, is not made
    non-blocking, for other processes have it too: an operation first waits
    until it is ready. *)

val is_file : t -> bool
val descr : t -> Unix.file_descr

val read : t -> bytes -> int -> int -> int
(** As {!Unix.read}.
    - {b Suspends} until there is something to read; or, on a file, until a
      worker has read it.
    - {b Cancelled} while suspended: nothing was read. On a file not cancelled.
    - {b Raises} [Unix.Unix_error] with [EBADF] if it is closed, also meanwhile.
*)

val write : t -> bytes -> int -> int -> int
(** As {!Unix.single_write}; otherwise as {!read}. *)

val length : t -> int
(** Of the file.

    - {b Raises} [Unix.Unix_error] with [ESPIPE] if there is none. Never
      suspends. *)

val position : t -> int
(** In the file; 0 if it is none. Never suspends. *)

val seek : t -> int -> unit
(** As {!Unix.lseek}, from the beginning. No operation is in progress. Never
    suspends. *)

val is_closed : t -> bool

val close : t -> bool
(** [false] if it was closed before. The operations that wait raise [EBADF].
    Never suspends. *)
