(** A PostgreSQL server for the tests. *)

val create_database : unit -> string
(** The URI of a new database. The first call starts a server with a folder of
    its own, which listens on a Unix socket. However the program ends, the
    server ends too and the folder is removed. The case is skipped if PostgreSQL
    or its driver for caqti is not installed. *)

val out_of_reach : (unit -> 'a Lwt.t) -> 'a Lwt.t
(** Runs the function while the server answers no client. *)
