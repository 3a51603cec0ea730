(** A barrier that several tasks pass again and again. *)

val comparisons : Case.comparison list

val sides : int
(** The number of tasks that pass the barrier of the case [barrier-parallel]. *)

val pass : (unit -> unit) -> int -> unit
(** Each of these tasks runs it. *)
