(** How a fiber of Picos waits for a resumer. *)

open Picos

val sleep :
  Fiber.t ->
  Trigger.t ->
  told:bool ->
  ('a Concord.Tools.Suspend.resumer -> 'a option) ->
  'a
(** A plug-in's [suspend], for the calling fiber, which is given, on a fresh
    trigger. If [told], other code cancels the wait, and signals the trigger. *)

val touch : unit -> unit
(** A wait that ends at once, so that the handler of the fiber's effects sees
    one. *)

val signal : Trigger.t -> unit
(** [Trigger.signal], unbroken. *)

val await_forbidding : Fiber.t -> Trigger.t -> unit
(** The fiber waits for the trigger, whether it is cancelled or not. *)

val attach_canceler :
  _ Computation.t -> _ Concord.Tools.Suspend.resumer -> Trigger.t option
(** Calls the resumer with the cancellation when the computation is cancelled,
    until the trigger is detached. It is [None] if the computation was
    completed. Then the resumer was called if the computation was cancelled. *)

val cancelled_at : Fiber.t -> exn -> Printexc.raw_backtrace option
(** The backtrace of the fiber's cancellation, if that exception is its
    cancellation. *)

val raise_in : Fiber.t -> exn -> 'a
(** Raises the outcome of a wait in that fiber. *)
