(** Which rows need more turns, because a claim of a paper about them is still
    undecided. *)

val is_undecided :
  ?claims:Claim.t list ->
  Concord_bench.Case.group ->
  (Concord_bench.Case.comparison * Concord_bench.Measure.result list) list ->
  Concord_bench.Case.row ->
  bool
(** [is_undecided group measured row] is for
    {!Concord_bench.Measure.comparison}. By default [claims] are those of all
    papers. A claim that compares rows of other turns ({!Claim.apart}) needs no
    turns, because this has only the results of one measurement. *)
