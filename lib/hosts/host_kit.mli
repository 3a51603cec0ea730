(** For whoever writes a scheduler, or a plug-in for one.

    A scheduler becomes a host by handling {!Concord.Suspend.extension-Suspend}:
    the contract is in {!Concord.Suspend}, and needs nothing of this module.
    Here are the parts that hosts have in common, which are hard to get right,
    and what is to be done for schedulers that do not know the effect. All of it
    is what the library's own hosts are made of. *)

(** {1 Parts of a host} *)

module Decision = Decision
module Inbox = Inbox
module Spin = Spin

val suspend_thread : ('a Concord_suspend.resumer -> 'a option) -> 'a
(** As {!Concord.Suspend.suspend}, but blocks the calling thread, whatever its
    scheduler, on a condition variable of its own; the domain's other threads go
    on. For a loop that cannot suspend the task in which it runs. What a signal
    handler raises while the thread waits ends the wait, and is raised. *)

(** {1 Schedulers that handle [Suspend]}

    A task of yours may start another scheduler's loop ([Eio_main.run],
    [Domainslib.Task.run]) which does not handle [Suspend]. What its tasks
    perform then reaches your handler although you are not their host. A
    scheduler that runs its loop inside {!using} and asks {!is_innermost} before
    it handles an effect refuses those. *)

type t
(** One scheduler's loop. *)

val create : unit -> t

val using :
  ?outside:((unit Concord_suspend.resumer -> unit option) -> unit) ->
  t ->
  (unit -> 'a) ->
  'a
(** [using t loop] is [loop ()], with [t] registered as this thread's innermost
    scheduler, also for the users of [Domain_local_await]. Leave it before
    parking (by [suspend], outside of your handler), and enter it again after:
    the task that runs the loop may continue on another domain.

    [outside block] is called for code in the loop that waits, but is in none of
    its tasks: a callback from C. It does what a host does, or calls {!refuse}
    where that would suspend; by default it parks the thread. *)

val is_innermost : t -> bool
(** [false] if a foreign scheduler's loop runs between the handler that calls
    this and the task that performed: then [discontinue k (Effect.Unhandled e)].
    To be called by the thread that runs [t]'s loop, inside {!using}.
    - {b Cost}: one comparison, unless a scheduler was started, or somebody used
      [Domain_local_await], on this domain since the last call; but on a domain
      on which the library was used only inside of foreign schedulers, such as a
      pool's, a question to [Domain_local_await] each time. *)

val refuse : exn -> 'a
(** [refuse e] raises [e], for code that has to wait and that your scheduler
    cannot suspend: in [outside], or in a plug-in. A computation of a lazy value
    that was refused has not failed, whatever it raises then. The next task
    computes it again. *)

(** {1 Schedulers that do not}

    A plug-in suspends their tasks by their own means. *)

exception Elsewhere
(** Raised by a plug-in that was called outside of its scheduler. *)

type plugin = Plugin.t = {
  name : string;  (** Of the scheduler, for messages. *)
  sample : Domain_local_await.t option;
      (** One of the scheduler's triggers, if it registers itself with
          [Domain_local_await]: the code of its [await] tells its triggers from
          those of others. It is not called. *)
  takes_every_effect : bool;
      (** Does the scheduler take also the effects that it does not know from
          the task that performs them? Then nothing is performed in its tasks
          but what the plug-in performs. *)
  suspend : 'a. ('a Concord_suspend.resumer -> 'a option) -> 'a;
      (** As a handler of {!Concord.Suspend.extension-Suspend} would, H1 to H4.
          Whatever [block] gives, an effect of the scheduler's is performed: it
          shows where the task ends. The last one that lets other tasks go on
          before it returns is made for this call, not a constant.
          @raise Elsewhere
            without having called [block], if the calling task is not one of the
            scheduler's. *)
  protect : 'a. (unit -> 'a) -> 'a;
      (** As {!Concord.Suspend.protect}.
          @raise Elsewhere without having called the function, as above. *)
  scopes : Concord_suspend.scopes option;
      (** As a handler of {!Concord.Suspend.extension-Scopes} would answer.
          Called in a task of the scheduler's only. *)
}
(** A scheduler of others.

    {b Order.} The innermost scheduler is known if it is registered, by itself
    or by {!using_plugin}; its plug-in is asked first. A plug-in that raises
    {!Elsewhere}, and a thread in which nothing is registered, lead to the other
    plug-ins, in the order in which they were added. That order is not that of
    nesting: a plug-in whose scheduler runs further out answers too. So a loop
    inside a task of another scheduler is to be run by {!using_plugin}, if its
    scheduler does not register itself; one that is nobody's task needs nothing.

    {b Effects.} [Suspend] is performed first, so that any handler is found,
    also one that is not registered. Not so in the tasks of a scheduler that
    takes every effect: it is found by being registered, or, in a thread in
    which nothing is, by asking its plug-in. A scheduler inside one of its tasks
    is found only if it is registered: by itself, by {!using} or by
    {!using_plugin}.

    {b Cost} of a scheduler that takes every effect: a read for each suspension
    if no such plug-in is linked. If one is, each suspension in the program, on
    whatever host, first asks [Domain_local_await] (50 to 100 ns), except where
    a scheduler of {!using} is known to be the innermost. *)

val plug_in : plugin -> unit
(** Adds a plug-in, for the whole program. Call it when your library is
    initialised. *)

val using_plugin : plugin -> (unit -> 'a) -> 'a
(** [using_plugin plugin loop] is [loop ()], with the scheduler registered as
    this thread's innermost one, also for the users of [Domain_local_await].
    [loop] runs the scheduler's loop on the calling thread, and nothing else; it
    does not suspend the task that called it, except by blocking the thread.

    The domains that [loop] spawns know of it, if the scheduler takes every
    effect. *)

(** {1 Asking the host}

    For libraries that start tasks, or look at their own stack. *)

val scopes : unit -> Concord_suspend.scopes option
(** How the calling task's host starts tasks, if it says so. Suspends no task,
    but a host may let others take their turn.
    @raise e the host's exception, if the task is cancelled. *)

val ask : 'a Effect.t -> otherwise:'a -> 'a option
(** [ask question ~otherwise] performs {!Concord.Suspend.extension-Ask}, and is
    [otherwise] if nobody answers. It is [None], and nobody was asked, if the
    calling task's scheduler may be one that {{!type-plugin}takes every effect}.
*)

type passing = Probe.passing = { passing : 'b. 'b Effect.t -> unit }

type host = Reach.host =
  | Suspends  (** A scheduler, which the effect has reached. *)
  | Parks  (** There is none: the system thread would be parked. *)

val probe : passing -> host
(** Performs what a suspension of the calling task performs, without suspending
    it; calls [passing] with each effect before it is performed. Those handlers
    that see the last one pass are the task's own, and are suspended with it:
    {!Concord.Lazy} tells by this what a task is forcing itself.

    A scheduler that registered itself with [Domain_local_await], and blocks the
    thread without performing an effect, is taken for none, after 10 ms.

    @raise e the host's exception, if the task is cancelled. *)
