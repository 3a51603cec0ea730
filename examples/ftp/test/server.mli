(** The real server as a child process, with a root of its own:

    - [hello.txt], [big] (8 MB), [sub/deep.txt]
    - [upload], an empty folder
    - [outside] and [sub/link.txt], symbolic links that lead out of it and to
      [hello.txt]
    - [fifo], which nobody writes to. *)

type t = { port : int; root : string; pid : int }

val with_server : ?options:string list -> (t -> unit) -> unit
(** Runs a server around a test, which has closed all its connections in the
    end. Then the server has as many descriptors as in the beginning, ends on
    SIGTERM with 0, and has written nothing to its standard error. *)

val descriptors : t -> int option
(** How many the server has, where the system tells. *)

val big : string
(** The contents of [big]. *)

val contents : t -> string -> string
(** Of a file below the root. *)

val output_of : string list -> int * string
(** The exit code of a command, and what it printed. *)
