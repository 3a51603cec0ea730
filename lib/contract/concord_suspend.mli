(** The contract between schedulers and synchronisation structures.

    {b Stability}: stable. The effects and the clauses H1 to H4 and S1 to S5 are
    frozen, because schedulers and structures of different authors have to agree
    on them.

    A {e task} is a unit of work that can be suspended: an Eio fiber, a
    Domainslib task, a task of a scheduler of yours, a system thread. What runs
    tasks is a {e scheduler}; the {e host} of a task is the innermost scheduler
    that it runs in. A {e structure} is what tasks wait in: a lock, a queue, a
    promise.

    The two sides meet in one effect, {!extension-Suspend} (sections 3.2, 4.2
    and 6.3 of "Effectively Composing Concurrency Libraries", made precise). A
    scheduler that handles it is a host: its tasks can wait in every structure
    together with the tasks of every other host. This library holds the contract
    and no code, so that a scheduler can keep it without any dependency. Tools
    to build a host with are in [Concord.Tools.Host_kit], and to build a
    structure with in [Concord.Tools.Structure_kit]. *)

type 'a resumer = ('a, exn) result -> bool
(** A function that makes one suspended task ready to continue with a value, or
    with an exception. It returns [true] if the task will. *)

(** {1 The effect} *)

type _ Effect.t +=
  | Suspend : ('a resumer -> 'a option) -> 'a Effect.t
        (** [Suspend block] suspends the calling task until the resumer that
            [block] was given is called, unless [block] returns a value. *)

(** {2 What a host promises when it handles [Suspend block]}

    - {b H1}. The host calls [block] exactly once, with a resumer that belongs
      to this one wait. (A task that is already cancelled may get the host's
      exception instead, and [block] is not called.) If [block] raises, the task
      continues with that exception. [Some v]: the task continues with [v].
      [None]: the task is suspended. Whatever its resumer was told meanwhile,
      the task does not continue before [block] has returned.
    - {b H2}. A resumer may be called from any domain or thread, also in a
      signal handler, at any moment from inside [block] on, any number of times.
      It never blocks, suspends or runs user code: it makes its task ready and
      wakes the host's loop. It raises nothing of its own. If a signal handler
      raises while a resumer runs, the resumer completes what it does before it
      raises that: its decision has been made, and its task is ready.
    - {b H3}. [true] is a promise. Resuming and cancelling race for one atomic
      decision, and exactly one wins. [true]: the task {e will} continue with
      exactly this outcome, even if it is cancelled right after. [false]: it
      never will, because it had been resumed or cancelled before.
    - {b H4}. A wake-up is never lost: a host that goes to sleep looks at its
      queue again after it announced that it sleeps.

    {2 What a structure promises when it performs [Suspend block]}

    - {b S1}. [block] registers the resumer and returns [None], or registers
      nothing and returns [Some v]. It does not suspend, and holds no lock while
      it calls a resumer.
    - {b S2}. A resumer that returns [false] has consumed nothing: the value,
      lock or permit goes to the next waiter, or back into the structure.
    - {b S3}. When performing [Suspend] raises, the operation withdraws its own
      waiter before it re-raises.
    - {b S4}. Waiters are served in the order of their arrival. A structure may
      let others overtake a waiter whose thread has to be woken first, if it
      bounds for how long, and how often.
    - {b S5}. An exception that travels with a value keeps its backtrace: resume
      with [Ok ()], then raise in the resumed task. *)

(** {1 Optional effects}

    A host handles those of the following that it has an answer for. A structure
    that performs one of them goes on without it if nobody handles it. *)

type scope = {
  fork : (unit -> unit) -> unit;
      (** [fork f] runs [f] in a new task of the scope. If it returns, [f] is
          called, once, even if the scope is cancelled; if it raises, [f] is not
          called. A cancelled caller may get the host's cancellation.

          It is called by a task of the scope, or of a scope within. A host that
          can tell raises [Invalid_argument] in other tasks: they do not keep
          the scope from ending. [f] raises nothing. *)
  cancel : unit -> unit;
      (** Cancels the tasks of the scope, [body] among them, by raising the
          host's cancellation where they wait. It is called by those that may
          call [fork], perhaps more than once. A host that cannot cancel does
          nothing. *)
}

type scopes = { scope : 'a. (scope -> 'a) -> 'a }
(** [scope body] calls [body] in the calling task, with a new scope. It returns
    or raises what [body] did, after all tasks of the scope have ended; also if
    the scope was cancelled. If the host cancels the calling task, then it
    cancels the tasks of the scope, and [scope] may raise the cancellation when
    they have ended. *)

type _ Effect.t +=
  | Protect : (unit -> unit) Effect.t
        (** For hosts that cancel their tasks. The handler defers the
            cancellation of the calling task, and continues the task at once
            with a function that ends the deferral. The task calls this function
            once; the function does not raise. Deferrals nest: the end of an
            inner one leaves the outer one as it is. A cancellation that came
            meanwhile is raised by the task's first suspension after all of them
            have ended. *)
  | Scopes : scopes Effect.t
        (** For hosts that fork tasks. The handler continues the task at once.
        *)
  | Ask : { question : 'a Effect.t; otherwise : 'a } -> 'a Effect.t
        (** Asks the handlers between the calling task and its host. A handler
            that knows [question] may answer it; a host answers [otherwise]. So
            a question goes no further than to the host. *)

(** {1:alone Without a host}

    In a thread that runs no host nobody handles [Suspend], and performing it
    raises [Effect.Unhandled]. A structure, or a scheduler that sleeps, then
    blocks the thread. [Concord.Tools.Suspend.suspend] does so, after it has
    asked for schedulers that do not handle the effect (Eio, Domainslib, and
    those with a plug-in). What has this library alone needs the following:

    {[
      # open Concord_suspend
      # let block_thread block =
          let mutex = Mutex.create () and resumed = Condition.create () in
          let outcome = Atomic.make None in
          let rec wake () =
            match Mutex.lock mutex with
            | () -> Condition.signal resumed; Mutex.unlock mutex
            | exception Sys_error _ -> (* a signal handler's, on top of [wait] *)
                ignore (Thread.create wake () : Thread.t)
          in
          let resumer result =
            Atomic.compare_and_set outcome None (Some result) && (wake (); true)
          in
          let decide result = ignore (resumer result : bool) in
          let wait () =
            while Option.is_none (Atomic.get outcome) do
              Condition.wait resumed mutex
            done
          in
          (match block resumer with
           | Some v -> decide (Ok v)
           | None -> (try Mutex.protect mutex wait with e -> decide (Error e))
           | exception e -> decide (Error e));
          match Option.get (Atomic.get outcome) with
          | Ok v -> v
          | Error e -> raise e
      val block_thread : ((('a, exn) result -> bool) -> 'a option) -> 'a = <fun>
      # let suspend block =
          let called = ref false in
          let block resumer = called := true; block resumer in
          match Effect.perform (Suspend block) with
          | v -> v
          | exception Effect.Unhandled (Suspend _) when not !called ->
              block_thread block
      val suspend : ('a resumer -> 'a option) -> 'a = <fun>
    ]}

    The first of [block]'s value or exception, the resumer, and what a signal
    handler raises while the thread waits is the outcome (H3). An [Unhandled]
    that comes after [block] was called is an outcome too, of this wait or of
    what [block] did, and not the answer that nobody handles the effect.

    {[
      # suspend (fun resumer ->
            ignore (Thread.create (fun () -> resumer (Ok 42)) () : Thread.t);
            None)
      - : int = 42
      # suspend (fun _ -> Some 42)
      - : int = 42
    ]}

    What it does not do:

    - It does not find a host that does not handle [Suspend]: in a fiber of Eio
      or a task of Domainslib it blocks the whole domain. Depend on
      [domain-local-await], or on [concord], to suspend these too.
    - A signal handler that raises between the decision of a resumer and the end
      of [wake] loses the wake-up, against H2; one that raises while the thread
      waits, but after it was resumed, is not heard of. [concord] keeps both. *)
