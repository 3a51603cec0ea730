(** How the server ends when it is told to. *)

val drain : Process.program -> unit -> unit
val grace : Process.program -> unit -> unit
val second_signal : Process.program -> unit -> unit
