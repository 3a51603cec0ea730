(** The command can't read this process. *)

exception Refused of string
(** The text says why, and what to do. *)

val refuse : ('a, unit, string, 'b) format4 -> 'a
(** [refuse format] raises {!Refused}. *)
