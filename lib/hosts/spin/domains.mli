(** Is the main domain the only one? *)

val were_spawned : unit -> bool
(** Was a domain ever spawned? Once it is true it stays so. One read. *)
