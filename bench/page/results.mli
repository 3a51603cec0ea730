(** What runs found. *)

type row = {
  group : string;
  case : string;
  impl : string;
  host : string;
  title : string;  (** What one operation is. *)
  comparison : int option;
      (** Which of the group's it is in. [None] where a file does not say it. *)
  is_baseline : bool;  (** Of its comparison. *)
  unit_ : string;
  more_is_better : bool;
  samples : float array;
      (** Those of equal index, in one comparison, were taken in the same turn.
      *)
  offered : float array;
      (** The requests per second that were due while the sample of equal index
          was taken. Empty where there is no such rate. *)
}

type run = {
  machine : string;
  date : string;
  command : string;
  effort : string;
  versions : (string * string) list;  (** Of what the rows run. *)
  left_out : string list;  (** What was not measured, and why. *)
  rows : row list;
}

type t = run list
(** Each group is in one of the runs. *)

type comparison = { title : string; baseline : row; others : row list }

val of_measured :
  (Concord_bench.Case.group
  * (Concord_bench.Case.comparison * Concord_bench.Measure.result list) list)
  list ->
  row list

val versions : row list -> (string * string) list
(** Those that are installed of what the rows run. *)

val add : run -> t -> t
(** The groups of the run replace those of the same names. *)

(** {1 Questions} *)

val rows : t -> row list

val name : row -> string
(** [impl@host]. *)

val quartiles : row -> float * float * float
(** Of the samples. The second is the median. *)

val find : t -> group:string -> case:string -> string -> row option
(** By [impl@host]. *)

val groups : t -> (string * comparison list) list
(** In the order of the runs. *)

val base_of : comparison -> row -> row option
(** What a row is compared with: on threads with Stdlib's, and else with the
    first row of its case, or the baseline if it is the only one of its case.
    [None] for a row that is compared with nothing. *)

val in_turns :
  (float -> float -> float) -> row -> row -> (float * float * float) option
(** [in_turns f a b] is the quartiles of [f] in the turns that both rows had.
    [None] unless both are of one comparison and had {!fewest_turns} together.
*)

val turns : row -> row -> int
(** How many both had. *)

val fewest_turns : int
(** 3. Quartiles of fewer mean nothing. *)
