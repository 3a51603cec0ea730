(** Cancelling one of many tasks that wait for the same. *)

val comparisons : Case.comparison list

val among_waiters : tasks:int -> int -> float
(** One more that waits for a mutex, and is cancelled; on Fifo. *)
