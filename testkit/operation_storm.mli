(** Random waits, releases and cancellations. *)

type spread =
  | Together  (** All are tasks of one scheduler, [Concord_fifo]. *)
  | Domains  (** The releases come from another domain. *)
  | Threads  (** System threads wait; they cannot be cancelled. *)

val run :
  seed:int ->
  seconds:float ->
  (module Operation_signature.OPERATION) ->
  spread ->
  unit
(** Repeats it with new structures for [seconds]. It raises if a task is never
    resumed, or if an item is lost. *)
