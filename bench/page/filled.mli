(** The tables of README.md and bench/RESULTS.md, filled with what was measured.

    A table is between the lines [<!-- measured: NAME -->] and [<!-- end -->];
    whatever is there is replaced. *)

val parts : (string * (Results.t -> string)) list
(** Those that there are, by their names. *)

val file : Results.t -> string -> unit
(** [file results name] fills all tables of that file.

    @raise Failure if one is unknown or has no end. *)
