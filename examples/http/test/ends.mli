(** How the server ends after a signal. *)

val drain : Process.program -> unit -> unit
val grace : Process.program -> unit -> unit
val second_signal : Process.program -> unit -> unit
