(** Picos's scheduler for one domain, {!Picos_mux_fifo}. *)

val run : (unit -> 'a) -> 'a
(** In a flock. *)

val host : Concord_bench.Host.t
