(** Draws pictures as SVG, with gnuplot.

    A point is the median of its samples, with a bar from the first to the third
    quartile. Series also differ by shape and dash, so that they can be
    distinguished in grey. *)

type point = { x : float; low : float; y : float; high : float }
type series = { name : string; points : point list }

type axis =
  | Categories of string list  (** The first category is at 1. *)
  | Numbers of string
      (** The label, with the unit. The axis is logarithmic if the points are
          positive and the largest is many times the smallest. *)

type t = {
  x : axis;
  y : string;
  level : float option;  (** Draws a horizontal line at this value. *)
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
(** Series whose points stand side by side in each category. A function returns
    the point of a category, and its [x] is ignored. *)
