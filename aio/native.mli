(** What [Unix] cannot ask the system. *)

type nature = int
(** What a descriptor is, and of which object of the kernel. *)

val nature : nonblock:bool -> Unix.file_descr -> nature
(** With [~nonblock:true] the descriptor, unless {!is_file}, is non-blocking
    afterwards.

    - {b Raises} [Unix.Unix_error] if it is not open. *)

val is_file : nature -> bool
(** The system cannot wait for it, or it is a regular file or a disk, for which
    the system never waits, although reading takes time. *)

val read_now : Unix.file_descr -> bytes -> int -> int -> int
(** As [Unix.read], if what is asked for is in memory; else -1, or if it cannot
    be known. The part must be one of the bytes'. *)

val write_now : Unix.file_descr -> bytes -> int -> int -> int
(** As [Unix.single_write], if that need not wait; else as {!read_now}. *)

val open_now : string -> Unix.open_flag list -> Unix.file_descr option
(** [openfile], close-on-exec, of a regular file that exists, if the system has
    all names in memory; else [None], as on an error. *)

val generation : unit -> int
(** Another number in each process that this one forks. *)
