(** Operations that are repeated often. *)

open Operation_scene

val many : int
(** The number of tasks that wait at the same time in {!memory}. *)

val memory : case list
(** Waits that are cancelled, or served. *)

val fairness : case list
(** Tasks that wait again and again. *)
