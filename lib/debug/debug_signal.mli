(** Reports on a signal: {!Concord.Debug.dump_on_signal}. *)

val dump_on : int -> unit
