(** What a task costs. *)

val rows : Concord_bench.Case.row list
