(** The results of runs. *)

type row = {
  group : string;
  case : string;
  impl : string;
  host : string;
  title : string;  (** Describes one operation. *)
  comparison : int option;
      (** The index of the comparison in its group. [None] if the file does not
          have it. *)
  is_baseline : bool;  (** Whether it is the baseline of its comparison. *)
  unit_ : string;
  more_is_better : bool;
  samples : float array;
      (** Samples of one comparison that have the same index were taken in the
          same turn. *)
  offered : float array;
      (** The requests per second that were due while the sample with the same
          index was taken. Empty if there is no such rate. *)
}

type run = {
  machine : string;
  date : string;
  command : string;
  effort : string;
  versions : (string * string) list;
      (** The versions of the libraries that the rows use. *)
  left_out : string list;
      (** The rows that were not measured, with the reasons. *)
  rows : row list;
}

type t = run list
(** Each group is in exactly one of the runs. *)

type comparison = { title : string; baseline : row; others : row list }

val of_measured :
  (Concord_bench.Case.group
  * (Concord_bench.Case.comparison * Concord_bench.Measure.result list) list)
  list ->
  row list

val versions : row list -> (string * string) list
(** The installed versions of the libraries that the rows use. *)

val add : run -> t -> t
(** The groups of the run replace those of the same names. *)

(** {1 Queries} *)

val rows : t -> row list

val name : row -> string
(** [impl@host]. *)

val quartiles : row -> float * float * float
(** The quartiles of the samples. The second one is the median. *)

val find : t -> group:string -> case:string -> string -> row option
(** Finds a row by its [impl@host]. *)

val groups : t -> (string * comparison list) list
(** The groups in the order of the runs. *)

val base_of : comparison -> row -> row option
(** The row that a row is compared with. On threads it is Stdlib's row.
    Otherwise it is the first row of its case, or the baseline if the row is the
    only one of its case. [None] if the row is compared with nothing. *)

val in_turns :
  (float -> float -> float) -> row -> row -> (float * float * float) option
(** [in_turns f a b] is the quartiles of [f] in the turns that both rows have.
    [None] unless both are in one comparison and have {!fewest_turns} in common.
*)

val turns : row -> row -> int
(** The number of turns that both have. *)

val fewest_turns : int
(** 3, because quartiles of fewer turns mean nothing. *)
