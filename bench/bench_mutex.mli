(** Mutexes: free, contended on one domain, and between two. *)

val comparisons : Case.comparison list
