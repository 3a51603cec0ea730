(** The protocol of RFC 959, with the extensions EPSV (RFC 2428), SIZE, MDTM and
    REST (RFC 3659). *)

type server

val server :
  Tree.t -> log:(string -> unit) -> max_sessions:int -> patience:float -> server
(** [patience] is the number of seconds for which a session waits for its
    client. [log] gets faults of the server. *)

val start : server -> Unix.file_descr -> Unix.sockaddr -> unit
(** Begins a session with an accepted client. Call it in a thread in trampolined
    style, which becomes the session's thread. An exception ends this session
    only. *)
