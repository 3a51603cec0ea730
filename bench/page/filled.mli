(** Documents whose tables are filled with what was measured.

    A table is between the lines [<!-- measured: NAME -->] and [<!-- end -->];
    whatever is there is replaced. *)

val file : Results.t -> string -> unit
(** [file results name] fills all tables of that file, by {!Tables.all}.

    @raise Failure
      if one is unknown or has no end, or a line contradicts its ratio. The
      document then stays as it is. *)
