(** The files that clients can reach: those below one folder, the root.

    A path never leaves the root, because [..] is resolved before the system
    sees it, and is the root itself there. A symbolic link does not exist for
    clients, wherever it leads, and neither do devices, sockets and FIFOs. The
    functions ask the system at once: a disk that is slow delays all sessions.
*)

type t

val create : root:string -> upload:string -> t
(** [upload] is the name of the folder in the root that takes new files. *)

type path
(** From the root. *)

val root : path

val resolve : path -> string -> path
(** What a client in this folder means by the text. *)

val to_string : path -> string

val file : t -> path -> string
(** The name for the system. *)

val stat : t -> path -> Unix.stats
(** Of a regular file or a folder.

    - {b Raises} [Unix.Unix_error] if there is none. *)

val list : t -> path -> (string * Unix.stats) list
(** What is in a folder, or just the file, sorted by names.

    - {b Raises} [Unix.Unix_error] as {!stat}. *)

val may_store : t -> path -> bool
(** Whether it is the path of a new file right in the upload folder. *)

val is_name : string -> bool
(** Whether the text has no control characters, which could end a line of the
    protocol. *)
