(** What the scheduler does when a task performs an effect, or ends. *)

type _ Effect.t +=
  | Fork : (unit -> unit) -> Task.t Effect.t
        (** The new task runs; the caller goes on with it, in its turn. *)
  | Fork_into : Task.scope * (unit -> unit) -> Task.t Effect.t
        (** The same, in a scope that the caller is in. Unhandled otherwise. *)
  | Yield : Task.t Effect.t  (** The caller, which goes on in its turn. *)
  | Self : Task.t Effect.t  (** The caller. *)

val make : Suspend.scopes -> Task.scheduler -> Fiber.handler
(** Besides these, for [Suspend], [Protect], [Ask] and [Scopes], which it
    answers with the first argument. Any other effect is left to the loop, to be
    performed in the task that runs it. *)
