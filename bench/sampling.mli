(** The samples of one row. *)

type t = {
  next : float -> unit -> float list;
      (** [next rate] begins the next sample, with that rate if it is of a load.
          It returns a function that waits for the answers, each per operation
          and in the row's unit. *)
  stop : unit -> unit;  (** Ends the sampling. *)
}

val prepare : Effort.t -> float option -> Case.group -> Case.row -> t
(** [prepare effort ms group row]. A sample takes about [ms] if the row chooses
    the number of operations.

    @raise Worker.No_result if a sample for finding that number gave no result.
*)
