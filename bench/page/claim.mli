(** What a paper says, held against what was measured. *)

type verdict = Confirmed | Refuted | Undecided | Missing
type finding = { verdict : verdict; what : string }

type t = {
  says : string;  (** With the limit that stands for the paper's words. *)
  findings : Results.t -> finding list;
      (** Each of which has to be confirmed. *)
}

val words : verdict -> string
(** As [not measured]. *)

val verdict : finding list -> verdict
(** [Refuted] if one is; else [Missing] if one is or there is none; else
    [Undecided] if one is. *)

val verdict_of : limit:float -> Line.t -> verdict
(** Whether a line takes at most [limit] times as long as its baseline.
    [Undecided] if neither that nor the contrary is {!Line.is_beyond} the spread
    and the drift. *)

(** {1 Making one} *)

type subject = { group : string; case : string; row : string }
(** [row] is [impl@host]. *)

val at_most : float -> says:string -> (subject * subject) list -> t
(** [at_most limit ~says [ (a, b); ... ]]: [a] takes at most [limit] times as
    long as [b], and so on. Both have to be of one comparison. *)

val of_comparisons :
  float ->
  says:string ->
  group:string ->
  case:(Results.comparison -> bool) ->
  (Results.comparison -> (Results.row * Results.row) list) ->
  t
(** The same for pairs that are chosen in each such comparison. *)

val not_measured : says:string -> string -> t
(** A claim that cannot be measured, and why. *)
