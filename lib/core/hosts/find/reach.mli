(** Finds the innermost scheduler around the calling task, and suspends the task
    by it. This is the entry point. The search has these steps:

    + [Suspend] is performed. This reaches every host that handles it. If the
      innermost handler is known not to handle it, this step is left out
      ({!Innermost_handler}, {!Plugin.comes_back}).
    + If no handler has handled it, {!Innermost} asks [Domain_local_await] which
      scheduler was registered last in the calling thread, and notes the answer.
    + If that scheduler has a {!Plugin}, the plug-in suspends the task. If it
      has none, the task waits by the scheduler's own trigger ([Park]).
    + If no scheduler is registered, the plug-ins of schedulers that don't
      register themselves are asked one by one. Each raises [Elsewhere] unless
      the task is one of its scheduler's.
    + If all are elsewhere, the thread is parked.

    {!Request} has these steps, for each request to a host, and {!Asking} the
    requests that are not for waiting. {!Greedy} has the differences in programs
    with a scheduler that takes every effect. {!Others} knows whether other code
    could wake the task. *)

open Concord_suspend

val suspend : ('a resumer -> 'a option) -> 'a
(** {!Concord.Tools.Suspend.suspend}. *)

val suspend_at_once : ('a resumer -> 'a option) -> 'a
(** {!suspend}, which tells the observer nothing. Call it unless
    {!Observer.takes_slow_path}. *)

val comes_back : unit -> bool
(** [true] if it is known that the effect has no handler. {b Cost}: one read, in
    a program without such a host. *)

exception Elsewhere
(** {!Plugin.Elsewhere}. *)

type noted = Plugin.suspending = {
  suspend : 'a. ('a resumer -> 'a option) -> 'a;
}

val noted : unit -> noted
(** If {!comes_back}, [(noted ()).suspend] does the same as {!suspend_at_once},
    with less on the stack of a task that waits. If it raises {!Elsewhere}, the
    task has not waited, and has to continue with {!by_search}. *)

val by_search : noted
(** The part of {!suspend_at_once} for an effect that has no handler. *)

val suspend_slowly : (unit -> Target.t list) -> ('a resumer -> 'a option) -> 'a
(** The targets are those in which the task waits. They are asked for if waits
    are kept or traced, because each makes a weak pointer. *)

val suspend_loop : (unit resumer -> unit option) -> unit
(** {!suspend} for a loop that sleeps (see {!Leaks.of_loop}). It is not kept as
    a wait, because its tasks are. *)

val suspend_unlisted : ('a resumer -> 'a option) -> 'a
(** {!suspend} for a task that waits for work. It is not kept as a wait. *)

val protect : (unit -> 'a) -> 'a
(** {!Concord.Tasks.protect}. *)

val some_end_tasks : unit -> bool
(** [true] if there is a host that cancels a task by an exception, after which
    the task must perform no effect. *)

val watch_end : unit -> exn -> bool
(** [watch_end () e] is [true] if the task may have got [e] between the two
    calls, which one task makes. *)

val question : 'a Effect.t -> otherwise:'a -> 'a option
(** [question q ~otherwise] performs {!Concord_suspend.extension-Ask}, and is
    [otherwise] if there is no answer. It is [None], without having asked, if
    the calling task's scheduler may be one that takes every effect. Suspends no
    task.

    - {b Raises} the exception that a handler raises as its answer. *)

val nobody_answers : unit -> bool
(** [true] if it is certain that no handler answers a question. {b Cost}: a few
    reads. Performing the question takes as long as a short wait. *)

type _ Effect.t +=
  | Refusing : unit Effect.t  (** A question of {!refuse}. *)
  | Refused_effects : exn option Effect.t
        (** A question of {!misused}. The answer is the exception that the
            caller has to raise, if it is in a function in which no effect is
            handled. *)

val refuse : exn -> 'a
(** {!Concord.Tools.Host_kit.refuse}. It asks {!Refusing} of the handlers
    between the caller and its host. *)

val last_refusal : unit -> exn * Printexc.raw_backtrace * string option
(** The exception that was given to {!refuse} last, in any thread, with the
    caller's stack, and the name of its operation, if it has one. For messages.
*)

val name_refusal : string -> unit
(** Says what the operation was that {!refuse} has just refused. *)

val is_refusal : exn -> bool
(** [true] if the exception was given to {!refuse} last. It compares addresses.
*)

val misused : string -> 'a
(** [misused message] is called where the effect of an operation had no handler.
    If a function around the caller refuses all effects, it raises that
    function's exception. Otherwise it raises [Invalid_argument message]. *)
