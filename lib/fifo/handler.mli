(** The scheduler's reaction when a task performs an effect, or ends. *)

type _ Effect.t +=
  | Fork : (unit -> unit) -> Task.t Effect.t
        (** The new task runs. The caller continues with it, when it runs next.
        *)
  | Fork_into : Task.scope * (unit -> unit) -> Task.t Effect.t
        (** The same, in a scope that the caller is in. Unhandled otherwise. *)
  | Yield : Task.t Effect.t
        (** Answered by the caller, which continues when it runs next. *)
  | Self : Task.t Effect.t  (** The caller. *)
  | Own_scopes : Concord_suspend.scopes Effect.t
        (** A question for the scheduler's answer to [Scopes]. *)

val run : Task.scheduler -> unit
(** [run s] runs the current task on a new stack, on top of the loop's, until it
    ends, or performs an effect and its handler returns. Call it last.

    Any effect but those above, [Suspend], [Protect], [Ask] and [Scopes] is left
    to the loop, which performs it in the task that runs the loop.

    OCaml begins a handler with a polling point, so this is broken there: the
    continuation is lost, so the task neither continues nor is unwound. So the
    task gets the exception. (The bytecode interpreter polls earlier, and there
    the loop gets it.) *)
