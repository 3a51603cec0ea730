(** Pictures, by gnuplot, as SVG.

    A point is the median of its samples, and a bar through it reaches from the
    first to the third quartile. Series differ by shape and dash too, so that
    they are told apart in grey. *)

type point = { x : float; low : float; y : float; high : float }
type series = { name : string; points : point list }

type axis =
  | Categories of string list  (** The first is at 1. *)
  | Numbers of string
      (** The label, with the unit. The axis is logarithmic if the points are
          positive and the largest is many times the smallest. *)

type t = {
  x : axis;
  y : string;
  level : float option;  (** Where a line is drawn across. *)
  series : series list;
}

val is_possible : unit -> bool
(** Whether gnuplot is installed. *)

val draw : t -> file:string -> unit
(** @raise Failure if gnuplot fails. *)

val by_category :
  ?level:float ->
  y:string ->
  categories:string list ->
  (string * (string -> point option)) list ->
  t
(** Series whose points stand side by side in each category. A function gives
    the point of a category, whose [x] does not matter. *)
