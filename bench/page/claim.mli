(** What a paper says, held against what was measured.

    A comparison of two rows is [Confirmed] if the first quartile of their ratio
    is beyond the limit, [Refuted] if the third is below it, and else
    [Undecided]: within the spread. *)

type verdict = Confirmed | Refuted | Undecided | Missing

type t = {
  says : string;  (** The claim, with the limit that stands for its words. *)
  findings : Results.t -> finding list;
      (** Each of which has to be confirmed. *)
}

and finding = { verdict : verdict; what : string }

val words : verdict -> string
(** As [not confirmed]. *)

val verdict : finding list -> verdict
(** [Refuted] if one is; else [Missing] if one is or there is none; else
    [Undecided] if one is. *)

val label : Results.row -> string
(** The case, and [impl@host]. *)

val verdict_of_ratio : limit:float -> float * float * float -> verdict

(** {1 Making one} *)

type subject = { group : string; case : string; row : string }
(** [row] is [impl@host]. *)

val at_least : float -> says:string -> (subject * subject) list -> t
(** [at_least limit ~says [ (a, b); ... ]]: [a] is at least [limit] times as
    good as [b], and so on. *)

val of_comparisons :
  float ->
  says:string ->
  group:string ->
  case:(string -> bool) ->
  (Results.comparison -> (Results.row * Results.row) list) ->
  t
(** The same for pairs that are chosen in each comparison that has such a case.
*)
