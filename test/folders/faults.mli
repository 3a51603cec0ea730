(** What a test of source files found. *)

val add : ('a, unit, string, unit) format4 -> 'a
(** Prints the fault on the standard error. *)

val stop : unit -> unit
(** The end of the program, whose exit code is 1 if a fault was added. *)
