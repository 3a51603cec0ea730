(** Measuring a comparison. *)

type result = {
  row : Case.row;
  values : float array;
      (** Each is per operation, in the row's unit. Those of equal index, in one
          comparison, were measured one after the other; some rows may have more
          of them than others. *)
  offered : float array;
      (** Of a {!Case.Load}: the requests per second that were due while the
          value of equal index was measured, the same for all rows of a
          comparison. Empty if there is no such rate. *)
}

val comparison :
  ?progress:(string -> unit) ->
  Effort.t ->
  patience_s:float ->
  Case.group ->
  Case.comparison ->
  result list
(** Measures the rows in turns (A B C, C A B, ...), each a {!turn}, until the
    ratio of each to the baseline is known well enough or there is no more time.
    A row whose ratio is known has no more turns. The baseline is the first of
    the results. There are none if so little effort leaves them out. A row that
    gives no result is left out, and the others are measured again; if it is the
    baseline, there are no results. *)

val failures : unit -> string list
(** The rows that gave no result until now, and why. *)

val turn :
  Random.State.t ->
  rate:(unit -> float) ->
  (float -> 'a) list ->
  float * 'a array
(** [rate ()], which is called first and once, and what each of the functions
    returns for it, in their order; they are called in another, which is drawn.
*)
