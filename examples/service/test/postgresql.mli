(** A PostgreSQL server for the tests. *)

val create_database : unit -> string
(** The URI of a new database. The first call starts a server with a folder of
    its own, which listens on a Unix socket. When the program ends, in whatever
    way, the server ends and the folder is removed. The case is skipped where
    PostgreSQL or its driver for caqti is not installed. *)

val out_of_reach : (unit -> 'a Lwt.t) -> 'a Lwt.t
(** Runs the function while the server answers nobody. *)
