(** The events of a busy program, without running it. *)

val second : int
(** In nanoseconds. *)

val waits : seconds:int -> per_second:int -> int
(** How many waits {!kept} has seen. *)

val kept :
  seconds:int ->
  per_second:int ->
  most:int ->
  Concord_trace.Kept.t * Concord_trace.Profile.t
(** What is kept of them, at most [most] events, and their sums. 64 tasks on two
    domains wait [per_second] times a second, in six operations. Once, in the
    middle, one waits for 0.4 s in ["backup"]. Each 20 ms the events are
    trimmed. They come as from a recorder, those of a domain after those of the
    other. *)
