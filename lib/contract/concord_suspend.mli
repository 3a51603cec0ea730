(** The contract between schedulers and synchronisation structures.

    {b Stability}: stable. The effects and the clauses H1 to H4 and S1 to S5 are
    frozen, because schedulers and structures of different authors have to agree
    on them.

    You have written a scheduler, and its tasks should wait in the same locks,
    queues and promises as the tasks of every other scheduler. Or you have
    written a lock, and tasks of every scheduler should be able to wait for it.
    Both sides need to agree on one effect only, {!extension-Suspend}. (It is
    the effect of sections 3.2, 4.2 and 6.3 of "Effectively Composing
    Concurrency Libraries", made precise.)

    Four words are used throughout.

    - A {e task} is a unit of work that can be suspended, for example an Eio
      fiber, a Domainslib task, a system thread or a task of your own scheduler.
    - A {e scheduler} runs tasks.
    - A task's {e host} is the innermost scheduler it runs in.
    - A {e structure} is an object tasks wait in, for example a lock, a queue or
      a promise.

    Here are both sides in short. In the structure, tasks wait for a bell to
    ring. [run] is a scheduler for one thread, without cancellation:

    {[
      # open Concord_suspend
      # let waiting = Queue.create ()
      val waiting : '_weak1 Queue.t = <abstr>
      # let wait_for_bell () =
          Effect.perform (Suspend (fun resumer -> Queue.add resumer waiting; None))
      val wait_for_bell : unit -> '_weak2 = <fun>
      # let ring_bell () =
          Queue.iter (fun resumer -> ignore (resumer (Ok "it rings") : bool)) waiting
      val ring_bell : unit -> unit = <fun>

      # let run tasks =
          let ready = Queue.of_seq (List.to_seq tasks) in
          let suspend k block =
            let is_decided = Atomic.make false in
            let continue = function
              | Ok v -> Effect.Deep.continue k v
              | Error e -> Effect.Deep.discontinue k e
            in
            let resumer outcome =
              Atomic.compare_and_set is_decided false true
              && (Queue.add (fun () -> continue outcome) ready; true)
            in
            match block resumer with
            | Some v -> continue (Ok v)
            | None -> ()
            | exception e -> continue (Error e)
          in
          let effc (type a) (e : a Effect.t) =
            match e with
            | Suspend block ->
                Some (fun (k : (a, unit) Effect.Deep.continuation) -> suspend k block)
            | _ -> None
          in
          while not (Queue.is_empty ready) do
            Effect.Deep.try_with (Queue.take ready) () { effc }
          done
      val run : (unit -> unit) list -> unit = <fun>
      # run [ (fun () -> print_endline (wait_for_bell ())); ring_bell ]
      it rings
      - : unit = ()
    ]}

    If a scheduler handles {!extension-Suspend}, it is a host. Its tasks can
    wait in every structure, together with the tasks of every other host. This
    library contains the contract and no code, and a scheduler can keep the
    contract without depending on Concord. [Concord.Tools.Host_kit] has tools
    for building a host, and [Concord.Tools.Structure_kit] has tools for
    building a structure. *)

type 'a resumer = ('a, exn) result -> bool
(** A resumer is a function to make one suspended task ready to continue, with a
    value or with an exception. It returns [true] if the task will continue with
    this outcome. *)

(** {1 The effect} *)

type _ Effect.t +=
  | Suspend : ('a resumer -> 'a option) -> 'a Effect.t
        (** [Suspend block] suspends the calling task until the resumer passed
            to [block] is called. If [block] returns a value, the task isn't
            suspended. *)

(** {2 What a host promises when it handles [Suspend block]}

    - {b H1}. The host calls [block] exactly once, with a resumer for this one
      wait. (If the task is already cancelled, the host may raise its
      cancellation exception instead of calling [block].) If [block] raises, the
      task continues with its exception. If [block] returns [Some v], the task
      continues with [v]. If [block] returns [None], the task is suspended. In
      every case the task continues only after [block] has returned, even if the
      resumer was called earlier.
    - {b H2}. A resumer may be called from any domain or thread, and in a signal
      handler. It may be called at any moment once [block] has started, and any
      number of times. The resumer never blocks, suspends or runs user code,
      because all it does is to make its task ready and wake the host's loop. It
      raises nothing of its own. If a signal handler raises while a resumer
      runs, the resumer first completes its work and then raises the handler's
      exception. By then the decision has been made, and the task is ready.
    - {b H3}. [true] is a promise. Resuming and cancelling race for one atomic
      decision, and exactly one of them wins. If the resumer returns [true], the
      task {e will} continue with exactly this outcome, even if it is cancelled
      immediately afterwards. If the resumer returns [false], the task never
      will, because it had been resumed or cancelled before.
    - {b H4}. A wake-up is never lost. A host going to sleep checks its queue
      once more after it has announced that it sleeps.

    {2 What a structure promises when it performs [Suspend block]}

    - {b S1}. Either [block] registers the resumer and returns [None], or it
      registers nothing and returns [Some v]. It does not suspend, and holds no
      lock while it calls a resumer.
    - {b S2}. A resumer that returns [false] has consumed nothing. The value,
      lock or permit goes to the next waiter, or back into the structure.
    - {b S3}. If performing [Suspend] raises, the operation withdraws its own
      waiter before it re-raises.
    - {b S4}. Waiters are served in the order of their arrival. However, a
      structure may let other tasks overtake a waiter whose thread has to be
      woken first, if it bounds for how long, and how often.
    - {b S5}. An exception travelling with a value keeps its backtrace. For
      this, resume with [Ok ()], then raise the exception in the resumed task.
*)

(** {1 Optional effects}

    A host handles whichever of the following effects it has an answer for. If
    an effect has no handler, the structure performing it carries on without it.
*)

type scope = {
  fork : (unit -> unit) -> unit;
      (** [fork f] runs [f] in a new task of the scope. If [fork] returns, [f]
          is called exactly once, even if the scope is cancelled. If [fork]
          raises, [f] is not called. If the caller is cancelled, [fork] may
          raise the host's cancellation.

          [fork] has to be called by a task of the scope, or of a scope inside
          it, because other tasks don't keep the scope from ending. If a host
          can tell, it raises [Invalid_argument] in other tasks. [f] must not
          raise. *)
  cancel : unit -> unit;
      (** [cancel ()] cancels the tasks of the scope, including [body], by
          raising the host's cancellation where they wait. The tasks that may
          call [fork] may call it, perhaps more than once. If a host cannot
          cancel, [cancel] does nothing. *)
}

type scopes = { scope : 'a. (scope -> 'a) -> 'a }
(** [scope body] calls [body] in the calling task, with a new scope. It waits
    until all tasks of the scope have ended, even if the scope was cancelled,
    and then returns or raises what [body] did. If the host cancels the calling
    task, it cancels the tasks of the scope too. Then [scope] may raise the
    cancellation after they have ended. *)

type _ Effect.t +=
  | Protect : (unit -> unit) Effect.t
        (** [Protect] defers the cancellation of the calling task, for hosts
            with cancellation. The handler continues the task at once with a
            function to end the deferral. The task calls this function once, and
            the function does not raise. Deferrals nest, so the end of an inner
            deferral doesn't end the outer one. If a cancellation came
            meanwhile, it is raised by the task's first suspension after all
            deferrals have ended. *)
  | Scopes : scopes Effect.t
        (** [Scopes] asks for the host's scopes, for hosts with a fork. The
            handler continues the task at once. *)
  | Ask : { question : 'a Effect.t; otherwise : 'a } -> 'a Effect.t
        (** [Ask] asks the handlers between the calling task and its host. A
            handler may answer a [question] it knows, and a host answers
            [otherwise]. A question therefore never goes beyond the host. *)

(** {1:alone Without a host}

    In a thread without a host, [Suspend] has no handler, and performing it
    raises [Effect.Unhandled]. The structure then has to block the thread. So
    does a scheduler that wants to sleep. [Concord.Tools.Suspend.suspend] does
    this for you. Before it does, it looks for schedulers that don't handle the
    effect (Eio, Domainslib, and schedulers with a plug-in). If you depend on
    this library alone, you need the following code:

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

    The outcome of the wait (H3) is the first of three things: the value or
    exception of [block], a call of the resumer, or an exception of a signal
    handler while the thread waits. If [Unhandled] comes after [block] was
    called, it is an outcome too, because it belongs to this wait or to [block].
    This doesn't mean the effect has no handler.

    {[
      # suspend (fun resumer ->
            ignore (Thread.create (fun () -> resumer (Ok 42)) () : Thread.t);
            None)
      - : int = 42
      # suspend (fun _ -> Some 42)
      - : int = 42
    ]}

    This code has two limits, which [concord] doesn't have.

    - It doesn't find a host that doesn't handle [Suspend]. In an Eio fiber or a
      Domainslib task it blocks the whole domain. To suspend these too, depend
      on [domain-local-await] or on [concord].
    - If a signal handler raises between the decision of a resumer and the end
      of [wake], the wake-up is lost, against H2. If a signal handler raises
      while the thread waits, but after the thread was resumed, the exception is
      dropped. *)
