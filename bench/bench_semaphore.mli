(** Counting semaphores: free, and contended on one domain. *)

val comparisons : Case.comparison list
