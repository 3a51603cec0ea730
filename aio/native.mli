(** System calls that [Unix] doesn't have. *)

type nature = int
(** The kind of a descriptor, and its object of the kernel. *)

val nature : nonblock:bool -> Unix.file_descr -> nature
(** With [~nonblock:true] the descriptor, unless {!is_file}, is non-blocking
    afterwards.

    - {b Raises} [Unix.Unix_error] if it is not open. *)

val is_file : nature -> bool
(** [true] if the system cannot wait for it, or if it is a regular file or a
    disk. For the latter the system never waits, although reading takes time. *)

val read_now : Unix.file_descr -> bytes -> int -> int -> int
(** [Unix.read], if the data is in memory. Otherwise, or if that cannot be
    known, it is -1. The part must be within the bytes. *)

val write_now : Unix.file_descr -> bytes -> int -> int -> int
(** [Unix.single_write], if that need not wait. Otherwise it is like
    {!read_now}. *)

val recv_now : Unix.file_descr -> bytes -> int -> int -> int
(** [Unix.read] of a socket, which may be blocking. It is -1 if it would have to
    wait, and -2 if this is no socket, or if that isn't known. The part must be
    within the bytes.

    - {b Raises} [Unix.Unix_error] for other errors. *)

val send_now : Unix.file_descr -> bytes -> int -> int -> int
(** [Unix.single_write] to a socket, like {!recv_now}. *)

val is_ready : Unix.file_descr -> write:bool -> bool
(** Whether it can be read, or written to, without waiting.

    - {b Raises} [Unix.Unix_error] if it is not open. *)

val open_now : string -> Unix.open_flag list -> Unix.file_descr option
(** [openfile], close-on-exec, of a regular file that exists, if the system has
    all names in memory. Otherwise, and on an error, it is [None]. *)

val generation : unit -> int
(** A number that is different in each process that this one forks. *)

val pread_now : Unix.file_descr -> bytes -> int -> int -> int -> int
(** {!pread}, as {!read_now}. *)

val pwrite_now : Unix.file_descr -> bytes -> int -> int -> int -> int
(** {!pwrite}, as {!write_now}. *)

val pread : Unix.file_descr -> bytes -> int -> int -> int -> int
(** [pread fd b pos len at] reads at most 65,536 bytes from that position of the
    file. It blocks the thread. The part must be within the bytes.

    - {b Raises} [Unix.Unix_error]. *)

val pwrite : Unix.file_descr -> bytes -> int -> int -> int -> int
(** The same for writing. *)

val process_descr : int -> Unix.file_descr option
(** A descriptor that becomes readable when the process ends, or [None] if the
    system doesn't have such, or if there is no such process. *)

val send_descrs :
  Unix.file_descr -> Unix.file_descr array -> bytes -> int -> int -> int
(** [send_descrs socket descrs b pos len] is {!Concord_aio.send_descrs}, without
    waiting. There must be 1 to 253 descriptors, and the part must be within the
    bytes. *)

val recv_descrs :
  Unix.file_descr -> bytes -> int -> int -> int * Unix.file_descr array
(** The same for {!Concord_aio.recv_descrs}. *)

val send_file : Unix.file_descr -> Unix.file_descr -> int -> int -> bool -> int
(** [send_file to_ from at len now] copies up to [len] bytes from the position
    [at], or from the file's own position if [at] is negative, without a buffer
    in this process. It is the number of bytes, -1 if [to_] has no room now, and
    -2 if the system can't do that for these descriptors. With [now], it is -3
    if the system may have to read from a disk. *)
