(** Cases in which waiting tasks are resumed. *)

open Operation_scene

val block : case list
(** S1. *)

val look : case list
(** A release comes just before the wait. *)

val how_many : case list
(** A release lets the right number of tasks continue. *)

val crowd : int
(** The largest number of tasks that wait at the same time in {!order}. *)

val order : case list
(** S4. *)

val once_only : case list
(** No task is resumed twice. *)

val signal : case list
(** A signal handler raises while a task is resumed. *)

val count : case list
(** Waiting tasks are counted. *)
