(** Cases in which waiting tasks leave. *)

open Operation_scene

val refusing : case list
(** S2, a resumer returns [false]. *)

val raising : case list
(** S3, the wait raises. *)
