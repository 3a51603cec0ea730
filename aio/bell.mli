(** What wakes a thread that waits for descriptors: one that becomes ready. *)

type t

val create : unit -> t
(** - {b Raises} [Unix.Unix_error] if no descriptor is left. *)

val close : t -> unit

val descr : t -> Unix.file_descr
(** Can be read from {!ring} to {!listen}. *)

val ring : t -> unit
(** Any thread may call it, and a signal handler. A system call, which does not
    wait. *)

val listen : t -> unit
(** It was heard, as often as it was rung. *)
