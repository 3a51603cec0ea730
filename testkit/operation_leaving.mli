(** Those who wait leave. *)

open Operation_scene

val refusing : case list
(** S2: a resumer answers [false]. *)

val raising : case list
(** S3: the wait raises. *)
