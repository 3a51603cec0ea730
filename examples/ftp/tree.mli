(** The files that clients can reach, which are those below one folder, the
    root.

    A path never leaves the root, because [..] is resolved before the system
    sees it. In the root, [..] is the root itself. For clients there are no
    symbolic links, wherever they lead, and no devices, sockets and FIFOs. The
    functions that ask the system are in direct style, and suspend their thread
    meanwhile ({!Wire.look}). *)

type t

val create : root:string -> upload:string -> t
(** [upload] is the name of the folder in the root that takes new files. *)

type path
(** A path from the root. *)

val root : path

val resolve : path -> string -> path
(** The path that this text means for a client in this folder. *)

val to_string : path -> string

val file : t -> path -> string
(** The name of the file for the system. *)

val stat : t -> path -> Unix.stats
(** The status of a regular file or a folder.

    - {b Raises} [Unix.Unix_error] if there is none. *)

val list : t -> path -> (string * Unix.stats) list
(** The contents of a folder, sorted by names, or just the file.

    - {b Raises} [Unix.Unix_error] like {!stat}. *)

val may_store : t -> path -> bool
(** Whether this can be the path of a new file directly in the upload folder. *)

val is_name : string -> bool
(** Whether the text has no control characters. Such characters could end a line
    of the protocol. *)
