(** The real server as a child process, with a root of its own:

    - [hello.txt], [big] (8 MB), [sub/deep.txt]
    - [upload], an empty folder
    - [outside] and [sub/link.txt], symbolic links that lead out of the root and
      to [hello.txt]
    - [fifo], to which no process writes. *)

type t = { port : int; root : string; pid : int }

val with_server : ?limit:int -> ?options:string list -> (t -> unit) -> unit
(** Runs a server, with at most [limit] descriptors, around a test, which has to
    close all its connections. After the test, the server must have as many
    descriptors as at first, end on SIGTERM with code 0, and have written
    nothing to its standard error. *)

val descriptors : t -> int option
(** The number of the server's descriptors, if the system provides it. *)

val has_descriptor : t -> int -> bool
(** The server has a descriptor of this number, as the system says. *)

val big : string
(** The contents of [big]. *)

val contents : t -> string -> string
(** The contents of a file below the root. *)

val output_of : string list -> int * string
(** The exit code of a command, and its output. *)
