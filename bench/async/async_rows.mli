(** Async's own structures, and ours in Async: the rows of {!Case.Async}, by
    group. *)

val all : (string * Concord_bench.Case.row list) list
