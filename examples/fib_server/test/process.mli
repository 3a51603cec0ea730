(** The real server as a child process. *)

type t = { pid : int; port : int; stderr : string  (** A file. *) }

val start : ?wrapper:string list -> string list -> t
(** [start options] returns once the server listens, on a free port.
    [wrapper @ [server; ...]] is the command. *)

val terminate : t -> unit
(** Sends SIGTERM. *)

val await_exit : t -> int
(** The exit code. *)

val complaints : t -> string
(** What the server wrote to its standard error so far. *)

val with_server : string list -> (t -> unit) -> unit
(** Runs a server around a test, and checks that it then drains, exits with 0
    and has written nothing to its standard error. *)

val output_of : string -> string list -> int * string
(** The exit code of a program that was given these arguments, and what it
    printed, errors included. *)

val poll : string -> (unit -> bool) -> unit
(** [poll what condition] waits for [condition], and fails after a while. *)
