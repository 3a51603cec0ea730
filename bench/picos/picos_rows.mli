(** Picos's own structures, on its own scheduler: the rows of {!Case.picos}, by
    group. *)

val all : (string * Concord_bench.Case.row list) list
