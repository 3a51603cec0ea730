(** When the program collects garbage to find lost tasks, for
    [CONCORD_DEBUG=leaks]. *)

val start : unit -> unit
(** Starts a thread that collects. Called once, when the program starts. *)

val guard :
  (unit -> Printexc.raw_backtrace) ->
  'a Concord_suspend.resumer ->
  'a Concord_suspend.resumer
(** {!Leak_guards.guard}. In the child of a fork, it starts the thread first. *)

(** {2 The decision}

    A busy program collects by itself, because each wait allocates. In a quiet
    program, nothing else would find what was lost last. *)

type seen = {
  at : float;  (** in seconds *)
  used : float;  (** the seconds of processor time that the program has taken *)
  cycles : int;  (** the cycles that the collector has completed *)
}
(** What is known at one time. *)

type state

val begin_at : seen -> state

val step : fresh:int -> seen -> state -> [ `Collect | `Wait ] * state
(** [step ~fresh seen state] decides about a collection. [fresh] waits have
    begun, and go on, since the step before. *)

val collected : seen -> state -> state
(** A collection that {!step} has decided has ended. *)

val pause : state -> float
(** The seconds until the next step. *)
