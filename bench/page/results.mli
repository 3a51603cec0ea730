(** What a run found, as it is saved and read. *)

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

exception Malformed of string
(** The message begins with the name of the file. *)

val of_measured :
  (Concord_bench.Case.group
  * (Concord_bench.Case.comparison * Concord_bench.Measure.result list) list)
  list ->
  row list

val write : string -> t -> unit
(** An object with the conditions and the [rows].

    @raise Sys_error if the file cannot be written. *)

val write_rows : string -> row list -> unit
(** The list of the rows alone.

    @raise Sys_error as above. *)

val read : string -> t
(** Reads what either of them has written.

    @raise Malformed if it is anything else.
    @raise Sys_error if the file cannot be read. *)

(** {1 Questions} *)

val name : row -> string
(** [impl@host]. *)

val median : row -> float

val spread : row -> float
(** Between the quartiles, as a fraction of the median. *)

val groups : t -> (string * comparison list) list
(** In the order of the file. *)

val ratio : row -> to_:row -> (float * float * float) option
(** [ratio row ~to_] is how many times better [row] is: the quartiles of the
    ratios of the single turns, if both were measured in turns; else those of
    the figures that are farthest apart. [None] where the units differ. *)
