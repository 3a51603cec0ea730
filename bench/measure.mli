(** Measuring a comparison. *)

type effort = {
  level : Case.level;
  repetitions : int;  (** Samples of a row. *)
  sample_ms : float option;
      (** The time for which a sample of {!Case.Time} runs; [None]: no time, a
          few operations. *)
  group_s : float option;
      (** The time that a group should take: one with many rows has shorter
          samples, and slow comparisons have fewer: at least three, or one if
          they take many times their share. *)
  crowd : int;  (** The most tasks of a {!Case.Crowd}. *)
}

val full : effort

val quick : effort
(** For a group or two. *)

val brief : effort
(** For all groups, in ten minutes: each is to be measured {!within} its share.
*)

val brief_s : float
(** What they share. A group takes longer than its share if so many repetitions
    as it must have do. *)

val within : effort -> left_s:float -> rows:int -> of_rows:int -> effort
(** The effort for a group with so many of the rows for which there is so much
    time left. *)

val smoke : effort
(** Only to see that everything runs. *)

type result = {
  row : Case.row;
  values : float array;
      (** Each is per operation, in the row's unit. Those of equal index, in one
          comparison, were measured one after the other. *)
  offered : float array;
      (** Of a {!Case.Load}: the requests per second that were due while the
          value of equal index was measured, the same for all rows of a
          comparison. Empty if there is no such rate. *)
}

val comparison :
  ?progress:(string -> unit) ->
  effort ->
  Case.group ->
  Case.comparison ->
  result list
(** Measures the rows in turns (A B C, C A B, ...), each a {!turn}. The baseline
    is the first of the results. There are none if so little effort leaves them
    out. A row that gives no result is left out, and the others are measured
    again; if it is the baseline, there are no results. *)

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

val quartiles : float array -> float * float * float
(** The median is the second; they interpolate between samples. *)

val median : result -> float

val spread : result -> float
(** Between the first and the third quartile, as a fraction of the median. *)

val ratio_to : baseline:result -> result -> float array
(** How many times better than [baseline] it was, in each repetition. *)
