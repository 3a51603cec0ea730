(** Compares the claims of a paper with the results. *)

type verdict = Confirmed | Refuted | Undecided | Missing

type finding = {
  verdict : verdict;
  against : float;
      (** How far the finding is on the wrong side of the claim's limit: the
          median in proportion to the limit. Infinite if it isn't measured. *)
  what : string;
  needs : Results.row list;
      (** The rows that need more turns to decide it. Empty if it is decided, or
          if more turns would not help. *)
}

type t = {
  says : string;  (** Includes the limit that stands for the paper's words. *)
  findings : Results.t -> finding list;
      (** Each of the findings has to be confirmed. *)
}

val words : verdict -> string
(** For example, [not measured]. *)

val verdict : finding list -> verdict
(** [Refuted] if one of them is. Otherwise [Missing] if one is, or if there is
    none. Otherwise [Undecided] if one is. *)

val deciding : finding list -> string
(** What the verdict rests on: of the findings that share it, the number, and
    the one that is furthest on the wrong side of the limit. *)

val verdict_of : limit:float -> Line.t -> verdict
(** Whether a line takes at most [limit] times as long as its baseline.
    [Undecided] if the limit is in {!Line.interval}, or if the median
    {!Line.is_close} to it. *)

(** {1 Making a claim} *)

type subject = { group : string; case : string; row : string }
(** [row] is [impl@host]. *)

val at_most : float -> says:string -> (subject * subject) list -> t
(** [at_most limit ~says [ (a, b); ... ]] claims that [a] takes at most [limit]
    times as long as [b], and so on. Both have to be in one comparison. *)

val of_comparisons :
  float ->
  says:string ->
  group:string ->
  case:(Results.comparison -> bool) ->
  (Results.comparison -> (Results.row * Results.row) list) ->
  t
(** The same for pairs that are chosen in each such comparison. *)

type quantity =
  | Row of subject
  | Ratio of subject * subject
      (** The first row in proportion to the second one, of the same turns. *)

val apart : float -> says:string -> (quantity * quantity) list -> t
(** The same as {!at_most} for what was not measured in turns. It compares the
    quartiles: the claim is [Undecided] if these don't lie on one side of the
    limit. *)

val figure : float -> string -> says:string -> subject list -> t
(** [figure limit unit_ ~says rows] claims that each row takes at most [limit],
    on whatever machine measured it. *)

val not_measured : says:string -> string -> t
(** A claim that cannot be measured, with the reason. *)
