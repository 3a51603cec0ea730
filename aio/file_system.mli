(** Operations of [Unix] on the file system, in system threads. *)

open Unix

(** {2 Files and folders}

    They call the function of [Unix] in a system thread, because a disk, or a
    file system on the network, may take any time.

    - {b Suspends} until the thread is done.
    - {b Cancelled}. An operation that only looks ([stat], [lstat], [readdir])
      raises at once. Any other one does nothing if it has not begun. If it has,
      it is completed first, and returns.
    - {b Cost}: about 10 us more than [Unix].
    - {b Raises} [Unix.Unix_error] like [Unix]. *)

val stat : string -> stats
(** [stat] is [Unix.stat]. *)

val lstat : string -> stats
(** [lstat] is [Unix.lstat]. *)

val readdir : string -> string list
(** [readdir name] has the names in the folder, without ["."] and [".."], in no
    particular order. *)

val mkdir : string -> file_perm -> unit
(** [mkdir] is [Unix.mkdir]. *)

val rmdir : string -> unit
(** [rmdir] is [Unix.rmdir]. *)

val rename : string -> string -> unit
(** [rename] is [Unix.rename]. *)

val unlink : string -> unit
(** [unlink] is [Unix.unlink]. *)

val fsync : file_descr -> unit
(** [fsync] is [Unix.fsync]. *)

val pread : file_descr -> at:int -> bytes -> int -> int -> int
(** [pread fd ~at b pos len] reads up to [len] bytes, and at most 65,536, from
    the position [at] of the file, which needs no [lseek]. Several tasks can
    therefore read one file. It returns 0 at the end.

    - {b Raises} [Invalid_argument] if the part isn't in [b]. *)

val pwrite : file_descr -> at:int -> bytes -> int -> int -> unit
(** [pwrite fd ~at b pos len] writes all [len] bytes to the position [at] of the
    file.

    - {b Raises} [Invalid_argument] if the part isn't in [b]. *)
