(** The events of a busy program, without running it. *)

val second : int
(** In nanoseconds. *)

val waits : seconds:int -> per_second:int -> int
(** How many waits {!iter} has. *)

val iter :
  seconds:int ->
  per_second:int ->
  poll:(unit -> unit) ->
  (Concord_trace.Recorder.item -> unit) ->
  unit
(** 64 tasks on two domains wait [per_second] times a second, in six operations.
    Once, in the middle, one waits for 0.4 s in ["backup"]. After each 20 ms
    [poll] is called. Items come as from a recorder, those of a domain after
    those of the other. *)
