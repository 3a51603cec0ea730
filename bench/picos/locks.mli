(** Mutexes, semaphores, conditions. *)

val rows : Concord_bench.Case.row list
