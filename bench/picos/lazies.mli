(** Lazy values. *)

val rows : Concord_bench.Case.row list
