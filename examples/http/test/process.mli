(** The real server as a child process. *)

type program
type t = { pid : int; port : int; program : program; stderr : string }

val program : string -> string list -> program
(** [program name options] is [../name.exe], which always gets these options. *)

val name : program -> string

val start : ?limit:int -> program -> string list -> t
(** [start program options] returns once the server listens on a free port. The
    server may have at most [limit] descriptors. *)

val terminate : t -> unit
(** Sends SIGTERM. *)

val await_exit : t -> int
(** Waits for the end of the server, and returns its exit code. *)

val await_end : t -> Unix.process_status
(** The same, for a server that may be killed. *)

val complaints : t -> string
(** The output of the server on its standard error so far. *)

val cpu_seconds : t -> float option
(** The CPU time of the server so far, if the system provides it. *)

val with_server : program -> string list -> (t -> unit) -> unit
(** Runs a server around a test. Then it checks that the server drains, exits
    with code 0, and has written nothing to its standard error. *)

val on_port : program -> string list -> (int -> unit) -> unit
(** The same, for a test that needs only the port. *)

val output_of : string -> string list -> int * string
(** The exit code of a program with these arguments, and its output, including
    standard error. *)

val run_beside : t -> string list -> int * string
(** Runs the program of a running server once more, as {!output_of} does. *)

val poll : string -> (unit -> bool) -> unit
(** [poll what condition] waits for [condition], and fails after some time. *)
