(** The rows of {!Case.picos} by group: Picos's own structures, on its own
    scheduler. *)

val all : (string * Concord_bench.Case.row list) list
