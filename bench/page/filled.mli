(** Fills the tables of documents with results.

    A table is between the lines [<!-- measured: NAME -->] and [<!-- end -->].
    The lines between them are replaced. *)

val file : Results.t -> string -> unit
(** [file results name] fills all tables of that file, by {!Tables.all}.

    @raise Failure
      if a table is unknown or has no end, or if a line contradicts its ratio.
      The document then stays as it is. *)
