(** The cost of a task. *)

val rows : Concord_bench.Case.row list
