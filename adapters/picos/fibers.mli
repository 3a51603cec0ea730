(** Fibers of Picos's schedulers as a host: the plug-in. *)

open Picos

val name : string

val plugin : Concord.Host_kit.plugin
(** Added when the library is initialised. *)

val who : Fiber.t -> Concord.Host_kit.Who.t
(** To be called in that fiber. *)

val open_scope : Fiber.t -> (Concord.Suspend.scope -> 'a) -> 'a
(** A scope ({!Concord.Suspend.scopes}) of the calling fiber, which is given.
    Its tasks are fibers that it spawns. *)

val attach_canceler :
  _ Computation.t -> _ Concord.Suspend.resumer -> Trigger.t option
(** Has the resumer called with the cancellation when the computation is
    cancelled, until the trigger is detached. [None]: the computation was
    completed, and the resumer was called if it was cancelled. *)

val raise_in : Fiber.t -> exn -> 'a
(** Raises the outcome of a wait in that fiber. *)
