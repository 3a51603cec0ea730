(** Programs that measure some functions by themselves, without the coordinator
    of the benchmark. *)

val parse : string -> unit
(** Reads the program's options: how many runs there are, and how long each
    takes. The argument is the program's name. *)

val measure : string -> (string * (unit -> unit)) list -> unit
(** [measure title rows] prints the microseconds of a call for each row: the
    median over the runs, and the quartiles. In each run the rows take turns. *)
