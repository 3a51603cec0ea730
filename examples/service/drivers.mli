(** Loads the drivers of the databases. *)

val postgresql : bool
(** Whether the driver of PostgreSQL is installed. *)
