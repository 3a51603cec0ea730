(** What the scheduler does when a task performs an effect, or ends. *)

type _ Effect.t +=
  | Fork : (unit -> unit) -> Task.t Effect.t
        (** The new task runs; the caller goes on with it, in its turn. *)
  | Fork_into : Task.scope * (unit -> unit) -> Task.t Effect.t
        (** The same, in a scope that the caller is in. Unhandled otherwise. *)
  | Yield : Task.t Effect.t  (** The caller, which goes on in its turn. *)
  | Self : Task.t Effect.t  (** The caller. *)

(** {2 One handler for all tasks} *)

val handles : Task.scheduler -> 'a Effect.t -> bool
(** Or is the effect for a handler further out? Raises nothing. *)

val performed :
  Task.scheduler ->
  is_innermost:bool ->
  'a Effect.t ->
  ('a, unit) Effect.Deep.continuation ->
  unit
(** The current task has performed this. [is_innermost] is what
    {!Host_kit.is_innermost} tells. Handled are the effects above, [Suspend],
    [Protect], [Ask] and [Scopes]. Any other one is left to the loop, to be
    performed in the task that runs it. To be called last. *)

val failed :
  Task.scheduler -> ('a, unit) Effect.Deep.continuation -> exn -> unit
(** The current task has performed an effect, and a signal handler has raised
    this. To be called last. *)

val ended : Task.scheduler -> unit
(** The current task has ended, as its wait tells. To be called last. *)
