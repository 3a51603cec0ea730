(** What a run found. *)

type row = {
  group : string;
  case : string;
  impl : string;
  host : string;
  title : string;  (** What one operation is; [""] in older files. *)
  comparison : int option;
      (** Which of the group's it is in; [None] in older files. *)
  is_baseline : bool;  (** Of its comparison. *)
  unit_ : string;
  more_is_better : bool;
  samples : float array;
      (** Those of equal index, in one comparison, were taken one after the
          other. Empty in older files. *)
  offered : float array;
      (** The requests per second that were due while the sample of equal index
          was taken. Empty where there is no such rate, and in older files. *)
  quartiles : float * float * float;
  versions : (string * string) list;  (** Of what the row runs. *)
}

type t = {
  machine : string;
  date : string;
  command : string;
  effort : string;
  left_out : string list;  (** What was not measured, and why. *)
  rows : row list;
}

type comparison = { title : string; baseline : row; others : row list }

val of_measured :
  (Concord_bench.Case.group
  * (Concord_bench.Case.comparison * Concord_bench.Measure.result list) list)
  list ->
  row list

(** {1 Questions} *)

val name : row -> string
(** [impl@host]. *)

val median : row -> float

val spread : row -> float
(** Between the quartiles, as a fraction of the median. *)

val has_spread : row -> bool
(** Whether there are so many samples that the quartiles mean something; a file
    without samples is taken by its word. *)

val groups : t -> (string * comparison list) list
(** In the order of the file. *)

val answered : row -> (float * float * float) option
(** Of a row whose samples are requests answered per second: the quartiles of
    what part of the requests that were due they are. [None] if these are not
    known. *)

val ratio : row -> to_:row -> (float * float * float) option
(** [ratio row ~to_] is how many times better [row] is: the quartiles of the
    ratios of the single turns, if both were measured in turns; else those of
    the figures that are farthest apart; from zero to infinity where a spread is
    not known. [None] where the units differ. *)
