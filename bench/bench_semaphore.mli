(** Counting semaphores: free, and contended on one domain. *)

val comparisons : Case.comparison list

val permits : int
(** That the tasks of the case [semaphore-contended] contend for. *)

val tasks : int
(** How many they are. *)
