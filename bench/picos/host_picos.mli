(** Picos's scheduler for one domain, {!Picos_mux_fifo}. *)

val run : (unit -> 'a) -> 'a
(** Runs the function in a flock. *)

val host : Concord_bench.Host.t
