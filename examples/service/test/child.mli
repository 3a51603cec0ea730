(** The real program, as a child process with a folder of its own. *)

type t

val start :
  ?database:string ->
  ?in_memory:bool ->
  ?limit:int ->
  ?debug:string ->
  ?program:string ->
  string list ->
  t
(** [start options] returns once the service listens on a free port. It may have
    at most [limit] descriptors. Without [database], the database is a file of
    SQLite in a new folder. With [~in_memory:true], this folder isn't on a disk
    if the system has [/dev/shm], so thousands of rows are stored in a second.
    [debug] is its CONCORD_DEBUG, by default unset. By default, [program] is the
    service with Concord. *)

val port : t -> int
val database : t -> string

val terminate : t -> unit
(** Sends SIGTERM. *)

type ended = {
  seconds : float;  (** The seconds since {!terminate}. *)
  drained : bool;
  metrics : (string * int) list;  (** The numbers that it printed at its end. *)
  complaints : string list;  (** The lines on its standard error. *)
}
(** The results of a service that has ended. *)

val await_end : t -> within:float -> ended Lwt.t
(** Fails if the service doesn't exit with code 0 within so many seconds after
    {!terminate}. *)

val metrics : string -> (string * int) list
(** Parses the text of [/metrics]. *)

val complaints : t -> string list
(** The lines on its standard error so far. *)

val set_limit : t -> int -> unit
(** From now on, it may have so many descriptors. The case is skipped if the
    program [prlimit] is not installed. *)

val descriptors : t -> int

val sockets : t -> int
(** The number of descriptors that are sockets. *)

val resident_kb : t -> int
