(** What channels of both directions have of a file: it is opened with Stdlib's
    flags, and fails with Stdlib's exceptions. *)

val as_sys_error : ?name:string -> (unit -> 'a) -> 'a
(** What raises [Unix.Unix_error] raises [Sys_error] instead, with Stdlib's
    text, before which stands the name, if there is one. *)

val check : string -> int -> int -> int -> unit
(** [check name length pos len]: are the [len] bytes from [pos] within [length]?

    - {b Raises} [Invalid_argument name] if not. *)

val open_ : open_flag list -> int -> string -> (Unix.file_descr -> 'a) -> 'a
(** [open_ flags perm name of_descr] is the channel that [of_descr] makes of the
    file. {b Suspends} while a worker opens it. *)

val buffer_size : int
val buffer_size_out : Handle.t -> int

val first_position : Handle.t -> int option -> int
(** Where in the file a channel begins that is made at that position; as in
    Stdlib 0, or -1 by no position, if that is no file. *)
