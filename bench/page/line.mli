(** One line of a table: the one form of all of them. *)

type t = {
  name : string;
  baseline : string;  (** The name of another line; [""] if this is one. *)
  times : float * float * float;
      (** The time, or what else it costs, in proportion to the baseline's of
          the same turns: the first quartile, the median, the third quartile.
          Lower is better, also where the absolute figure is a rate. *)
  absolute : float;
  unit_ : string;
  turns : int;
  drift : float;
      (** {!val-drift} of the baseline; if it answers requests that are due, of
          what part of them it answers. *)
}

val drift : float array -> float
(** How far samples of neighbouring turns are apart: the median of the absolute
    logarithms of their quotients. *)

val negligible : float
(** 3 %. To move code about changes a figure by so much. *)

val is_beyond : drift:float -> limit:float -> float * float * float -> bool
(** Whether all quartiles are on one side of the limit, and the median is
    farther from it than the drift and than {!negligible}. *)

val is_clear : t -> bool
(** {!is_beyond} 1. *)

val of_row : base:Results.row -> Results.row -> t option
(** The absolute figure is the median of the baseline, times [times]: thus all
    figures of a table are at one speed of the machine. [None] if the two do not
    have enough turns in common. *)

val of_baseline : Results.row -> t

(** {1 Printing} *)

exception Contradiction of string

val check : t list -> unit
(** Each absolute figure, divided by that of its baseline, is between the
    quartiles.

    @raise Contradiction naming the first line of which this is not true. *)

val cell : t option -> string
(** As [0.85 [0.80 0.94]], or [no clear difference [0.97 1.04]]. *)

val figure : float -> string
(** Three digits or so. *)

val cells : head:string list -> string list list -> string
(** A table of Markdown. *)

val table : t list -> string
(** All lines, one below the other.

    @raise Contradiction as {!check} does. *)

val beside :
  corner:string ->
  columns:string list ->
  (string * t * t option list) list ->
  string
(** Lines of the same names beside each other: first the baseline, by its
    absolute figure. *)
