(** Is the main domain the only one? *)

val were_spawned : unit -> bool
(** Was a domain ever spawned? Once it is true it stays so. One read. *)

val may_be_spawning : unit -> bool
(** Did the first spawn begin less than 0.2 s ago? Then the threads that it
    brings may not be there yet: OCaml doesn't say when they are. *)
