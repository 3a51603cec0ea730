(** The rows of {!Case.Async} by group: Async's own structures, and Concord's in
    Async. *)

val all : (string * Concord_bench.Case.row list) list
