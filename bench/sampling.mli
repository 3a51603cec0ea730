(** The samples of one row. *)

type t = {
  next : float -> unit -> float list;
      (** [next rate] begins the next one, at that rate if it is of a load, and
          gives what waits for it: its answers, each per operation and in the
          row's unit. *)
  stop : unit -> unit;  (** There are no more. *)
}

val prepare : Effort.t -> float option -> Case.group -> Case.row -> t
(** [prepare effort ms group row]: a sample takes about [ms], if the row has as
    many operations as fit.

    @raise Worker.No_result if a sample to find their number gave none. *)
