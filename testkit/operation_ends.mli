(** Cases in which waiting tasks continue with an exception. *)

open Operation_scene

val backtrace : case list
(** S5. *)

val close : case list
(** The operation has an end. *)
