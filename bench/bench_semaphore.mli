(** Counting semaphores that are free, or contended on one domain. *)

val comparisons : Case.comparison list

val permits : int
(** The number of permits in the case [semaphore-contended]. *)

val tasks : int
(** The number of tasks that contend for them. *)
