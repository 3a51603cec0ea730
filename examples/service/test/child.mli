(** The real program, as a child process with a folder of its own. *)

type t

val start : ?database:string -> ?program:string -> string list -> t
(** [start options] returns once the service listens, on a free port. Without
    [database] it is a file of SQLite in a new folder. [program] is the service
    with Concord unless given. *)

val port : t -> int
val database : t -> string

val terminate : t -> unit
(** Sends SIGTERM. *)

type ended = {
  seconds : float;  (** From {!terminate}. *)
  drained : bool;
  metrics : (string * int) list;  (** What it printed at its end. *)
  complaints : string list;  (** The lines on its standard error. *)
}
(** What a service that has ended left behind. *)

val await_end : t -> within:float -> ended Lwt.t
(** Fails if it doesn't exit with 0, so many seconds after {!terminate}. *)

val metrics : string -> (string * int) list
(** Of the text of [/metrics]. *)

val descriptors : t -> int

val sockets : t -> int
(** How many of the descriptors are sockets. *)

val resident_kb : t -> int
