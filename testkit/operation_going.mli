(** Those who wait are let go. *)

open Operation_scene

val block : case list
(** S1. *)

val look : case list
(** A release comes just before the wait. *)

val how_many : case list
(** A release lets as many go on as it should. *)

val order : case list
(** S4. *)

val once_only : case list
(** Nobody is resumed twice. *)

val signal : case list
(** A signal handler raises while one is resumed. *)

val count : case list
(** Those who wait are counted. *)
