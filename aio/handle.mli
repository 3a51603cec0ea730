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

    @raise Unix.Unix_error with [EBADF] if it is closed, also meanwhile. *)

val write : t -> bytes -> int -> int -> int
(** As {!Unix.single_write}; otherwise as {!read}. *)

val length : t -> int
(** Of the file. *)

val is_closed : t -> bool

val close : t -> bool
(** [false] if it was closed before. The operations that wait raise [EBADF].
    Never suspends. *)
