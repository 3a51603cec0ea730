(** Reports on a signal: {!Concord.Tools.Debug.dump_on_signal}. *)

val dump_on : int -> unit
