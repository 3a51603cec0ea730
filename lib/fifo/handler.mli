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

(** {2 One handler for all tasks} *)

val handles : Task.scheduler -> 'a Effect.t -> bool
(** [true] if this handler handles the effect. Otherwise it is for a handler
    further out. Raises nothing. *)

val performed :
  Task.scheduler ->
  is_innermost:bool ->
  'a Effect.t ->
  ('a, unit) Effect.Deep.continuation ->
  unit
(** The current task has performed this effect. [is_innermost] is the answer of
    {!Host_kit.is_innermost}. The effects above, [Suspend], [Protect], [Ask] and
    [Scopes] are handled. Any other effect is left to the loop, which performs
    it in the task that runs the loop. Call it last. *)

val failed :
  Task.scheduler -> ('a, unit) Effect.Deep.continuation -> exn -> unit
(** The current task has performed an effect, and this exception came at the
    beginning of the handler, before the code is unbroken. Call it last. *)

val ended : Task.scheduler -> unit
(** The current task has ended, as its wait shows. Call it last. *)
