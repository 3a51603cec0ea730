(** Which scheduler is the innermost one around the calling task, and how does
    it suspend the task? This is the entry point. The search goes so:

    + [Suspend] is performed. This reaches every host that handles it. If the
      innermost handler is known not to handle it, this step is left out
      ({!Innermost_handler}, {!Plugin.comes_back}).
    + If nobody has handled it, {!Innermost} asks [Domain_local_await] which
      scheduler was registered last in the calling thread, and notes the answer.
    + If that scheduler has a {!Plugin}, the plug-in suspends the task. If it
      has none, the task waits by the scheduler's own trigger ([Park]).
    + If no scheduler is registered, the plug-ins of schedulers that don't
      register themselves are asked one by one. Each raises [Elsewhere] unless
      the task is one of its scheduler's.
    + If all are elsewhere, the thread is parked.

    {!Request} lists all that is asked of a host, and has steps 2 to 5 for each
    request. {!Greedy} has what is different in programs with a scheduler that
    takes every effect. {!Identify} tells which task asks, {!Probe} whether a
    trigger suspends at all, and {!Others} whether anybody could wake the task.
*)

open Concord_suspend

val suspend : ('a resumer -> 'a option) -> 'a
(** {!Concord.Tools.Suspend.suspend}. *)

val takes_slow_path : unit -> bool
(** If not, {!suspend_at_once} does what {!suspend_slowly} does. {b Cost}: one
    read. *)

val suspend_at_once : ('a resumer -> 'a option) -> 'a

val comes_back : unit -> bool
(** Is it known that nobody would handle the effect? {b Cost}: one read, in a
    program without such a host. *)

val suspend_unhandled : ('a resumer -> 'a option) -> 'a
(** What {!suspend_at_once} does when nobody has handled the effect, or would.
*)

exception Elsewhere
(** {!Plugin.Elsewhere}. *)

type noted = Plugin.suspending = {
  suspend : 'a. ('a resumer -> 'a option) -> 'a;
}

val noted : unit -> noted
(** [(noted ()).suspend] does what {!suspend_unhandled} does, with less on the
    stack of a task that waits. If it raises {!Elsewhere}, the task has not
    waited, and has to continue with {!suspend_elsewhere}. *)

val suspend_elsewhere : ('a resumer -> 'a option) -> 'a

val suspend_slowly :
  (unit -> Waits.target list) -> ('a resumer -> 'a option) -> 'a
(** The targets are those in which the task waits. They are asked for if waits
    are kept or traced: each makes a weak pointer. *)

val suspend_loop : (unit resumer -> unit option) -> unit
(** As {!suspend}, for a loop that sleeps: see {!Leaks.of_loop}. It is not kept
    as a wait: its tasks are. *)

val suspend_unlisted : ('a resumer -> 'a option) -> 'a
(** As {!suspend}, for one that waits for work: it is not kept as a wait. *)

val protect : (unit -> 'a) -> 'a
(** {!Concord.Tasks.protect}. *)

val yield : unit -> unit
(** {!Concord.Tasks.yield}. *)

val scopes : unit -> scopes option
(** {!Concord.Tools.Host_kit.scopes}. *)

val who : unit -> Who.t
(** The calling task. The host that suspends it is asked, and whatever lies
    between: a host that does not answer is unknown, although one around it
    does. Cancellation is deferred as by {!protect}. Suspends no task, but a
    host may let others take their turn. *)

val some_end_tasks : unit -> bool
(** Is there a host that cancels a task by an exception, after which the task
    must perform no effect? *)

val watch_end : unit -> exn -> bool
(** [watch_end () e], both called by one task: may it have got [e] so in
    between? *)

val question : 'a Effect.t -> otherwise:'a -> 'a option
(** [question q ~otherwise] performs {!Concord_suspend.extension-Ask}, and is
    [otherwise] if nobody answers. It is [None], and nobody was asked, if the
    calling task's scheduler may be one that takes every effect. Suspends no
    task.

    - {b Raises} what a handler answers by raising [e]. *)

val nobody_answers : unit -> bool
(** Is it certain that no handler answers a question? {b Cost}: a few reads,
    where to perform it takes as long as a short wait. *)

type _ Effect.t +=
  | Refusing : unit Effect.t  (** A question of {!refuse}. *)
  | Refused_effects : exn option Effect.t
        (** A question of {!misused}. Is the caller a function in which no
            effect is handled, and what is then to be raised? *)

val refuse : exn -> 'a
(** {!Concord.Tools.Host_kit.refuse}. It asks {!Refusing} of whatever lies
    between the caller and its host. *)

val park_or_refuse : exn -> ('a resumer -> 'a option) -> 'a
(** [park_or_refuse e block] is [Park.suspend_thread block], or {!refuse} [e] if
    nothing is left that could wake the thread. For a thread whose loop never
    continues, because it has called [exit]. *)

val is_refusal : exn -> bool
(** Was the exception given to {!refuse} last? By address. *)

val misused : string -> 'a
(** [misused message], called where the effect of an operation was unhandled:
    raises what a function around the caller that refuses all effects says of
    itself, else [Invalid_argument message]. *)

(** {2 What lies between a task and its host} *)

type host =
  | Suspends  (** A scheduler, which the effect has reached. *)
  | Parks  (** There is none: the system thread would be parked. *)

val probe : Probe.passing -> host
(** {!Concord.Tools.Host_kit.probe}. *)

val may_be_woken : asleep:int -> bool
(** {!Concord.Tools.Host_kit.may_be_woken}. *)
