(** The protocol: RFC 959, and of its extensions EPSV (RFC 2428), SIZE, MDTM and
    REST (RFC 3659). *)

type server

val server : Tree.t -> max_sessions:int -> patience:float -> server
(** [patience]: for how many seconds a session waits for its client. *)

val start : server -> Unix.file_descr -> Unix.sockaddr -> unit
(** Begins a session with the client that was accepted. For a thread in
    trampolined style, which is the session's. *)
