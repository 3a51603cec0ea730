(** The real server as a child process. *)

type program
type t = { pid : int; port : int; program : program; stderr : string }

val program : string -> string list -> program
(** [program name options] is [../name.exe], with these options always. *)

val name : program -> string

val start : ?limit:int -> program -> string list -> t
(** [start program options] returns once the server listens, on a free port.
    [limit] is how many descriptors it may have. *)

val terminate : t -> unit
(** Sends SIGTERM. *)

val await_exit : t -> int
(** The exit code. *)

val await_end : t -> Unix.process_status
(** The same if it may be killed. *)

val complaints : t -> string
(** What the server wrote to its standard error so far. *)

val cpu_seconds : t -> float option
(** What the server has computed so far, where the system tells. *)

val with_server : program -> string list -> (t -> unit) -> unit
(** Runs a server around a test, and checks that it then drains, exits with 0
    and has written nothing to its standard error. *)

val output_of : string -> string list -> int * string
(** The exit code of a program that was given these arguments, and what it
    printed, errors included. *)

val run_beside : t -> string list -> int * string
(** {!output_of} the program of a server that runs. *)

val poll : string -> (unit -> bool) -> unit
(** [poll what condition] waits for [condition], and fails after a while. *)
