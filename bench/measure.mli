(** Measures a comparison. *)

type result = {
  row : Case.row;
  values : float array;
      (** Each value is per operation, in the row's unit. Values of one
          comparison that have the same index were measured one after the other.
          Some rows may have more values than others. *)
  offered : float array;
      (** For a {!Case.Load}, the requests per second that were due while the
          value with the same index was measured. It is the same for all rows of
          a comparison, and empty if there is no such rate. *)
}

val comparison :
  ?progress:(string -> unit) ->
  ?undecided:((Case.comparison * result list) list -> Case.row -> bool) ->
  Effort.t ->
  patience_s:float ->
  Case.group ->
  Case.comparison ->
  result list
(** Measures the rows in turns (A B C, C A B, ...), each a {!turn}, until the
    ratio of each row to the baseline is precise enough, or the time is over. A
    row whose ratio is precise enough takes no more turns. But a row goes on
    ({!Effort.goes_on}) while [undecided results row] says that a claim about it
    needs more turns. [results] has those of the comparison so far, and those of
    the comparisons that share its load. Of the row, only [impl] and [host]
    matter, because its case may be that of another one of these. The first
    result is the baseline. If the effort is too small for the comparison, there
    are no results. If a row gives no result, it is left out, and the others are
    measured again. If the baseline gives no result, there are no results. *)

val failures : unit -> string list
(** The rows that have given no result so far, with the reasons. *)

val turn :
  Random.State.t ->
  rate:(unit -> float) ->
  (float -> 'a) list ->
  float * 'a array
(** Calls [rate ()] once, and then each function with that rate, in a random
    order. Returns the rate, and the results in the order of the functions. *)
