(** Loads the drivers of the databases. *)

val postgresql : bool
(** Whether that of PostgreSQL is installed. *)
