(** A line of a table. All tables have this form. *)

type t = {
  name : string;
  baseline : string;
      (** The name of another line, or [""] if this line is a baseline. *)
  times : float * float * float;
      (** The time, or another cost, in proportion to the baseline's in the same
          turns: the first quartile, the median, the third quartile. Lower is
          better, even if the absolute figure is a rate. *)
  absolute : float;
  unit_ : string;
  turns : int;
  drift : float;
      (** The {!val-drift} of the baseline. For requests that are due at a rate,
          it is the drift of the answered fraction. *)
}

val drift : float array -> float
(** How much samples of neighbouring turns differ. It is the median of the
    absolute logarithms of their quotients. *)

val negligible : float
(** 3 %. Just moving code may change a figure by this much. *)

val is_beyond : drift:float -> limit:float -> float * float * float -> bool
(** Whether all quartiles are on one side of the limit, and the median is
    farther from it than the drift and than {!negligible}. *)

val is_close : limit:float -> float * float * float -> bool
(** Whether the median differs from the limit by no more than {!negligible}. *)

val interval : t -> float * float
(** {!Concord_bench.Statistics.interval} of [times]. *)

val is_clear : t -> bool
(** {!is_beyond} with the limit 1. *)

val of_row : base:Results.row -> Results.row -> t option
(** The absolute figure is the median of the baseline times [times]. So all
    figures of a table are for the same speed of the machine. [None] if the two
    rows do not have enough turns in common. *)

val of_baseline : Results.row -> t

(** {1 Printing} *)

exception Contradiction of string

val check : t list -> unit
(** Checks that each absolute figure, divided by that of its baseline, is
    between the quartiles.

    @raise Contradiction with the first line that fails this check. *)

val cell : t option -> string
(** For example, [0.85 [0.80 0.94]] or [no clear difference [0.97 1.04]]. *)

val figure : float -> string
(** About three digits. *)

val cells : head:string list -> string list list -> string
(** A table of Markdown. *)

val table : t list -> string
(** All lines, one below the other.

    @raise Contradiction like {!check}. *)

val beside :
  corner:string ->
  columns:string list ->
  (string * t * t option list) list ->
  string
(** Lines of the same names side by side. The baseline comes first, with its
    absolute figure. *)
