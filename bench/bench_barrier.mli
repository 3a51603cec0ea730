(** A barrier that several tasks pass again and again. *)

val comparisons : Case.comparison list

val sides : int
(** That pass the barrier of the case [barrier-parallel]. *)

val pass : (unit -> unit) -> int -> unit
(** What each of them does. *)
