(** How a fiber of Picos waits for a resumer. *)

open Picos

val sleep :
  Fiber.t ->
  Trigger.t ->
  told:bool ->
  ('a Concord.Tools.Suspend.resumer -> 'a option) ->
  'a
(** As a plug-in's [suspend], for the calling fiber, which is given, on a fresh
    trigger. If [told], then somebody else has the wait cancelled, and signals
    the trigger. *)

val touch : unit -> unit
(** A wait that ends at once: what handles the fiber's effects sees one. *)

val signal : Trigger.t -> unit
(** [Trigger.signal], also if a signal handler raises in it. It raises that
    then. *)

val await_forbidding : Fiber.t -> Trigger.t -> unit
(** The fiber waits for the trigger, cancelled or not. *)

val attach_canceler :
  _ Computation.t -> _ Concord.Tools.Suspend.resumer -> Trigger.t option
(** Has the resumer called with the cancellation when the computation is
    cancelled, until the trigger is detached. [None]: the computation was
    completed, and the resumer was called if it was cancelled. *)

val cancelled_at : Fiber.t -> exn -> Printexc.raw_backtrace option
(** From where the fiber was cancelled, if that exception is its cancellation.
*)

val raise_in : Fiber.t -> exn -> 'a
(** Raises the outcome of a wait in that fiber. *)
