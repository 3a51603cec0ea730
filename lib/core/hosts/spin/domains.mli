(** Whether the main domain is the only one. *)

val were_spawned : unit -> bool
(** [true] if a domain was ever spawned. It stays so. One read. *)

val may_be_spawning : unit -> bool
(** [true] if the first spawn began less than 0.2 s ago. Then the threads that
    it brings may not be there yet, and OCaml doesn't say when they are. *)
