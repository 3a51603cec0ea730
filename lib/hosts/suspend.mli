(** The one effect through which tasks of any scheduler wait.

    A {e task} is a unit of work that can be suspended: an Eio fiber, a
    Domainslib task, a task of {!Concord_fifo}, a system thread, a domain's
    initial thread. What runs tasks is a {e scheduler}; the {e host} of a task
    is the innermost scheduler that it runs in.

    Users of Concord's structures need nothing of this module but {!protect}.
    Whoever writes a scheduler or a structure does: this is the whole contract
    between the two (sections 3.2, 4.2 and 6.3 of "Effectively Composing
    Concurrency Libraries", made precise).

    {2 What a host promises when it handles [Suspend block]}

    - {b H1}. It calls [block] exactly once, with a resumer that belongs to this
      one wait (a task that is already cancelled may get the host's exception
      instead, and [block] is not called). If [block] raises, the task continues
      with that exception. [Some v]: the task continues with [v]. [None]: the
      task is suspended. Whatever its resumer was told meanwhile, the task does
      not continue before [block] has returned.
    - {b H2}. A resumer may be called from any domain or thread, at any moment
      from inside [block] on, any number of times. It never blocks, suspends or
      runs user code: it makes its task ready and wakes the host's loop.
    - {b H3}. [true] is a promise. Resuming and cancelling race for one atomic
      decision and exactly one wins. [true]: the task {e will} continue with
      exactly this outcome, even if it is cancelled right after. [false]: it
      never will, because it had been resumed or cancelled before.
    - {b H4}. A wake-up is never lost: a host that goes to sleep looks at its
      queue again after it announced that it sleeps.

    {2 What a structure promises when it passes [block]}

    - {b S1}. [block] registers the resumer and returns [None], or registers
      nothing and returns [Some v]. It does not suspend and holds no lock while
      it calls a resumer.
    - {b S2}. A resumer that answers [false] has consumed nothing: the value,
      lock or permit goes to the next waiter, or back into the structure.
    - {b S3}. When {!suspend} raises, the operation withdraws its own waiter
      before it re-raises.
    - {b S4}. Waiters are served in the order of their arrival.
    - {b S5}. An exception that travels with a value keeps its backtrace: resume
      with [Ok ()], then raise in the resumed task. *)

type 'a resumer = ('a, exn) result -> bool
(** Makes one suspended task ready to continue with a value, or with an
    exception; [true] if it will. *)

type _ Effect.t +=
  | Suspend : ('a resumer -> 'a option) -> 'a Effect.t
        (** Performed by {!suspend} and by nothing else; handled by each
            scheduler. *)

val suspend : ('a resumer -> 'a option) -> 'a
(** [suspend block] suspends the calling task until the resumer that [block] was
    given is called, unless [block] returns a value.

    The host is found with nothing to set up: the innermost handler of
    {!extension-Suspend}; else the innermost scheduler that is registered with
    [Domain_local_await] (Eio and Domainslib are), through its plug-in if there
    is one; else the scheduler of the first plug-in that finds itself in one of
    its tasks; else the system thread is parked on a condition variable of its
    own. See {!Host}, also for schedulers that are asked before the effect is
    performed.

    - {b Suspends} the task only, whatever its host.
    - {b Cancelled} while suspended: raises the host's exception; see H3.
    - {b Cost}: on {!Concord_fifo} three to four times that of performing an
      effect. *)

(** {2 Operations of a structure} *)

type ('x, 'a) waiter = ('x, 'a) Waiter.t = private {
  arg : 'x;  (** What it waits with: a value to give, a purpose, [()]. *)
  choice : Waiter.choice;
      (** What the alternatives of one choice have in common. *)
  mutable resume : 'a resumer;
      (** What the structure calls, after it took the waiter out of its queue.
          [false]: the waiter was cancelled or withdrawn, or a choice took
          another alternative; it has consumed nothing (S2). *)
}
(** One wait in a structure. *)

type ('t, 'x, 'a) operation = {
  attempt : 't -> 'x -> 'a option;
      (** Performs the operation if it need not wait; else does nothing and is
          [None]. May raise instead. *)
  enlist : 't -> ('x, 'a) waiter -> bool;
      (** Puts the waiter into the structure's queue and is [true]; or does
          nothing and is [false], if [attempt] would not be [None]. Does not
          raise. *)
  withdraw : 't -> ('x, 'a) waiter -> unit;
      (** The waiter was enlisted and does not wait any more. The structure may
          have taken it out of the queue already. *)
}
(** A blocking operation on a structure of type ['t]. None of the three suspends
    or performs an effect. *)

val wait : ('t, 'x, 'a) operation -> 't -> 'x -> 'a
(** [wait operation t arg] suspends the task as a waiter of [t], unless the
    operation can be performed now; it keeps S1 and S3. *)

val block :
  ('t, 'x, 'a) operation -> 't -> ('x, 'a) waiter -> 'a resumer -> 'a option
(** [block operation t waiter] is what {!wait} suspends with; S1. The waiter is
    a fresh one. *)

val withdraw : ('t, 'x, 'a) operation -> 't -> ('x, 'a) waiter -> unit
(** Withdraws a waiter that may still wait; else does nothing. *)

val protect : (unit -> 'a) -> 'a
(** [protect f] is [f ()], in which the innermost host that has cancellation
    does not deliver it: a cancellation that arrives meanwhile raises at the
    first suspension after [protect] returned. To a thread without scheduler,
    what a signal handler raises while the thread waits is a cancellation. A
    Domainslib task just calls [f], and so does an Eio fiber if [concord-eio] is
    not linked. *)

val is_cancelled : unit -> bool
(** Does a suspension of the calling task raise its host's cancellation? [false]
    for hosts without cancellation, and in {!protect}.

    - {b Suspends} no task, but a host may let others take their turn. *)

(** {2 What lies between a task and its host} *)

type reaching = { reaching : 'b. 'b Effect.t -> unit }

type host =
  | Suspends  (** A scheduler, which the effect has reached. *)
  | Parks  (** There is none: the system thread would be parked. *)

val reach_host : reaching -> host
(** Performs what a suspension of the calling task performs, without suspending
    it; calls [reaching] with each effect before it is performed. Those handlers
    that see the last one pass are the task's own, and are suspended with it:
    {!Lazy} tells by this what a task is forcing itself.

    A scheduler that registered itself with [Domain_local_await], and blocks the
    thread without performing an effect, is taken for none, after 10 ms.

    @raise e the host's exception, if the task is cancelled. *)

(** For whoever writes a scheduler or a plug-in for one. *)
module Host : sig
  (** {2 Tasks that a task starts} *)

  type scope = {
    fork : (unit -> unit) -> unit;
        (** [fork f] starts a task of the host's that runs [f], which raises
            nothing; what the host raises in it when it is cancelled may be let
            out or not. Called by the task that opened the scope, before its
            function has returned. *)
    cancel : unit -> unit;
        (** Cancels the tasks of the scope as the host does, and, if it can, the
            function of the one that opened it. A task may be cancelled before
            it has begun; then its function is not called. Called any number of
            times, by any task of the scope. Hosts without cancellation do
            nothing. *)
  }

  type scopes = { scope : 'a. (scope -> 'a) -> 'a }
  (** [scope f] opens a scope, calls [f] with it in the calling task, and waits
      until all tasks of the scope have ended. Then it returns or raises what
      [f] did. If [f] raises, or the host cancels the calling task, the tasks
      are cancelled, and waited for all the same; then the host's exception is
      raised. After [scope.cancel] the host may raise too, although [f]
      returned. *)

  val scopes : unit -> scopes option
  (** How the calling task's host starts tasks, if it says so. Suspends no task,
      but a host may let others take their turn.
      @raise e the host's exception, if the task is cancelled. *)

  (** {2 Optional effects}

      A host may handle them beside [Suspend]. If it does not, the library does
      without. *)

  type _ Effect.t +=
    | Protect : (unit -> unit) Effect.t
          (** Performed by {!Suspend.protect}; a host that cancels its tasks
              handles it beside [Suspend]. The handler defers the cancellation
              of the calling task and continues it at once with a function that
              ends this; the function is called once, from the same task, and
              does not raise. *)
    | Ask : { question : 'a Effect.t; otherwise : 'a } -> 'a Effect.t
          (** Asks the handlers in the calling task's own stack: one that knows
              the question answers it, or adds to the answer and passes it on. A
              host answers [otherwise], at once: what lies beyond it belongs to
              other tasks. {!Lazy} asks this way what the task is forcing. *)
    | Scopes : scopes Effect.t
          (** Performed by {!scopes}; the handler continues at once, with the
              same record for all tasks of a loop, and no other loop's. *)

  val ask : 'a Effect.t -> otherwise:'a -> 'a option
  (** [ask question ~otherwise] performs {!extension-Ask}, and is [otherwise] if
      nobody answers. It is [None], and nobody was asked, if the calling task's
      scheduler may be one that {{!type-plugin}takes every effect}. *)

  (** {2 For a scheduler that does not handle [Suspend]} *)

  exception Elsewhere
  (** Raised by a plug-in that was called outside of its scheduler. *)

  type plugin = {
    name : string;  (** Of the scheduler, for messages. *)
    sample : Domain_local_await.t option;
        (** One of the scheduler's triggers, if it registers itself with
            [Domain_local_await]: the code of its [await] tells its triggers
            from those of others. It is not called. *)
    takes_every_effect : bool;
        (** Does the scheduler take also the effects that it does not know from
            the task that performs them? Then nothing is performed in its tasks
            but what the plug-in performs. *)
    suspend : 'a. ('a resumer -> 'a option) -> 'a;
        (** As a handler of {!extension-Suspend} would, H1 to H4. Whatever
            [block] gives, an effect of the scheduler's is performed: it shows
            where the task ends. The last one that lets other tasks go on before
            it returns is made for this call, not a constant.
            @raise Elsewhere
              without having called [block], if the calling task is not one of
              the scheduler's. *)
    protect : 'a. (unit -> 'a) -> 'a;
        (** As {!Suspend.protect}.
            @raise Elsewhere without having called the function, as above. *)
    scopes : scopes option;
        (** As a handler of {!extension-Scopes} would answer. Called in a task
            of the scheduler's only. *)
  }
  (** A scheduler of others.

      {b Order.} The innermost scheduler is known if it is registered, by itself
      or by {!using_plugin}; its plug-in is asked first. A plug-in that raises
      {!Elsewhere}, and a thread in which nothing is registered, lead to the
      other plug-ins, in the order in which they were added. That order is not
      that of nesting: a plug-in whose scheduler runs further out answers too.
      So a loop inside a task of another scheduler is to be run by
      {!using_plugin}, if its scheduler does not register itself; one that is
      nobody's task needs nothing.

      {b Effects.} [Suspend] is performed first, so that any handler is found,
      also one that is not registered. Not so in the tasks of a scheduler that
      takes every effect: it is found by being registered, or, in a thread in
      which nothing is, by asking its plug-in. A scheduler inside one of its
      tasks is found only if it is registered: by itself, by {!using} or by
      {!using_plugin}.

      {b Cost} of a scheduler that takes every effect: a read for each
      suspension if no such plug-in is linked. If one is, each suspension in the
      program, on whatever host, first asks [Domain_local_await] (50 to 100 ns),
      except where a scheduler of {!using} is known to be the innermost. *)

  val plug_in : plugin -> unit
  (** Adds a plug-in, for the whole program. Call it when your library is
      initialised. *)

  val using_plugin : plugin -> (unit -> 'a) -> 'a
  (** [using_plugin plugin loop] is [loop ()], with the scheduler registered as
      this thread's innermost one, also for the users of [Domain_local_await].
      [loop] runs the scheduler's loop on the calling thread, and nothing else;
      it does not suspend the task that called it, except by blocking the
      thread.

      The domains that [loop] spawns know of it, if the scheduler takes every
      effect. *)

  (** {2 For a scheduler that handles [Suspend]}

      A task of yours may start another scheduler's loop ([Eio_main.run],
      [Domainslib.Task.run]) which does not handle [Suspend]. What its tasks
      perform then reaches your handler although you are not their host. A
      scheduler that runs its loop inside {!using} and asks {!is_innermost}
      before it handles an effect refuses those. *)

  type t
  (** One scheduler's loop. *)

  val create : unit -> t

  val using :
    ?outside:((unit resumer -> unit option) -> unit) -> t -> (unit -> 'a) -> 'a
  (** [using t loop] is [loop ()], with [t] registered as this thread's
      innermost scheduler, also for the users of [Domain_local_await]. Leave it
      before parking (by [suspend], outside of your handler), and enter it again
      after: the task that runs the loop may continue on another domain.

      [outside block] is called for code in the loop that waits, but is in none
      of its tasks: a callback from C. It does what a host does, or calls
      {!refuse} where that would suspend; by default it parks the thread. *)

  val refuse : exn -> 'a
  (** [refuse e] raises [e], for code that has to wait and that your scheduler
      cannot suspend: in [outside], or in a plug-in. A computation of a lazy
      value that was refused has not failed, whatever it raises then. The next
      task computes it again. *)

  val is_innermost : t -> bool
  (** [false] if a foreign scheduler's loop runs between the handler that calls
      this and the task that performed: then
      [discontinue k (Effect.Unhandled e)]. To be called by the thread that runs
      [t]'s loop, inside {!using}.
      - {b Cost}: one comparison, unless a scheduler was started, or somebody
        used [Domain_local_await], on this domain since the last call; but on a
        domain on which the library was used only inside of foreign schedulers,
        such as a pool's, a question to [Domain_local_await] each time. *)
end
