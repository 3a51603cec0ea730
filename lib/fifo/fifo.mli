(** A scheduler for lightweight tasks, first in, first out, on one domain.

    {b Stability}: stable.

    Its tasks wait in Concord's structures together with those of any other
    library. They can be resumed from any domain or thread, and cancelled
    without losing anything.

    {[
      # Concord_fifo.run (fun () ->
          let box = Mvar.create_empty () in
          let producer = Concord_fifo.fork (fun () -> Mvar.put box "hello") in
          let v = Mvar.take box in
          Concord_fifo.join producer;
          v)
      - : string = "hello"
    ]}

    You can call {!run} anywhere, for example in a plain thread or domain, in an
    Eio fiber, in a Domainslib task, or in a task of another [run]. While all of
    its tasks wait, it suspends only the calling task.

    (The scheduler comes from "Effectively Composing Concurrency Libraries",
    sections 3.1, 3.4 and 4, with cancellation. The page
    {{!page-fifo}The FIFO scheduler} explains it.)

    See also the pages on {{!/concord/stdlib}Stdlib}, {{!/concord/eio}Eio} and
    {{!/concord/picos}Picos}. *)

exception Cancelled
(** In a cancelled task, every suspending operation raises [Cancelled]. *)

type handle
(** A task. You can keep a handle after the task has ended, because it is small.
*)

val run : ?cancellation:[ `Eager | `Lazy ] -> (unit -> 'a) -> 'a
(** [run f] calls [f] in a new task, and returns its result when all tasks have
    ended.

    These are the new task, and all tasks it forked, directly or not. (Tasks of
    {!fork_daemon} are cancelled when the others have ended.)

    - {b Suspends} the calling task, whatever its host, while all tasks wait. If
      there is a second domain, [run] spins for up to 70 microseconds before it
      puts a thread or domain to sleep, unless spinning wasn't worth it before.
      If nothing else in the program could resume a task, one of the tasks gets
      {!Concord.Tools.Suspend.Never_resumed}. If a handler around [run] handles
      an effect, this suspends all of the tasks. For example, an Eio operation
      does so if a fiber called [run]. To Eio all tasks are one fiber, so
      switches or [Eio.Fiber.first] of two of them must not overlap.
    - {b Turns}. While tasks are always ready, the other tasks of the host run
      every 10 ms.
    - {b Cancelled} by the host of the calling task while suspended, [run]
      cancels all tasks, waits for them, and re-raises the host's exception. (In
      an Eio fiber this needs [concord-eio]. Without it [run] can't suspend the
      cancelled fiber again, so it blocks the domain while the tasks unwind.)
    - {b Cost} grows with nesting. A [run] inside a task of another [run] waits
      as a task of the loop around it. While no task of the innermost loop is
      ready, resuming one therefore costs one more suspension for each level. So
      does an effect handled around all of them.
    - {b Signals}. If a handler or a finaliser raises, for example the handler
      of [Sys.catch_break], its exception may be raised in a task or end [run].
      See the page on {{!/concord/threads}threads}.
    - {b Raises} [e] if [f] raised [e], after the other tasks were cancelled and
      have ended.
    - {b Raises} [e] if a task raised [e] and no task called {!join} on it. The
      backtrace is the task's. Such an exception also cancels the other tasks,
      as soon as no task is ready to run, and otherwise after 256 to 512 turns
      of other tasks. You see a failure even if all others wait for the failed
      task, or are always busy. If you join a task much later, fork it with
      {!fork_promise}. (A turn after a fork hardly counts, so you can fork tens
      of thousands of tasks before you join the first.)
    - {b Raises} {!Cancelled} if the first task was cancelled, even if [f]
      returned.

    {b Cancellation} is [`Eager] by default. Then a suspended task, when it is
    cancelled, becomes the last of the ready tasks, and is unwound in its next
    turn. With [`Lazy] (section 4.3 of the paper) cancelling only marks the
    task. It becomes ready when an operation arrives that would have resumed it,
    or when no other task is ready, and at the latest after 256 turns of other
    tasks.

    Either way, a value, a lock or a permit goes to another task from the moment
    of cancelling. Until the task is unwound, its waiter stays in the queue, and
    counts wherever mere presence does. For example, a cancelled writer keeps
    the readers behind it out of a [Rwlock], and functions like [Mvar.waiters]
    count it. A structure therefore keeps the live waiters, and those whose
    tasks were cancelled in the last 256 turns. *)

(** {2 Tasks} *)

val fork : (unit -> unit) -> handle
(** [fork f] runs [f] in a new task of the caller's scope. The new task runs at
    once, and the caller continues after the other ready tasks have run.

    - {b Suspends} the caller like {!yield}.
    - {b Cancelled}, it raises {!Cancelled} before [f] is called, or not at all.
    - {b Cost}: O(1), and a stack for the task.
    - {b Raises} [Invalid_argument] outside {!run}. *)

val fork_promise : (unit -> 'a) -> 'a Promise.t
(** [fork_promise f] forks a task to fill the promise with [f ()].

    If [f] raises, the promise fails with its exception, even if it is
    {!Cancelled}, and the exception counts as observed. If you have resolved the
    promise before, the result is dropped. Otherwise [fork_promise] is like
    {!fork}. *)

val fork_daemon : (unit -> unit) -> handle
(** [fork_daemon f] is {!fork} for a task that doesn't keep its scope from
    ending.

    The daemon is cancelled when the body of the scope, or the first task of
    {!run}, and all other tasks forked there have ended. These include tasks
    forked by a daemon with {!fork}. {!run}, and {!Scope.run}, return when the
    daemon has been unwound. A daemon may also end by itself. If it raises, it
    has failed like any other task.

    {[
      # Concord_fifo.run (fun () ->
          let numbers = Mvar.create_empty () in
          let rec count n = Mvar.put numbers n; count (n + 1) in
          ignore (Concord_fifo.fork_daemon (fun () -> count 1));
          List.init 3 (fun _ -> Mvar.take numbers))
      - : int list = [1; 2; 3]
    ]}

    On other hosts, call {!Concord.Scope.cancel} at the end of the body to end
    the tasks running beside it.

    - {b Raises} [Invalid_argument] outside {!run}. *)

val yield : unit -> unit
(** [yield ()] lets the other ready tasks run.

    - {b Suspends} the caller until then.
    - {b Cancelled}, it raises {!Cancelled}.
    - {b Order}. The caller continues after the ready tasks.
    - {b Cost}: O(1).
    - {b Raises} [Invalid_argument] outside {!run}. *)

val self : unit -> handle
(** [self ()] is the calling task. It never suspends, and takes O(1).

    - {b Raises} [Invalid_argument] outside {!run}. *)

(** {2 Cancelling and joining} *)

val cancel : handle -> unit
(** [cancel h] asks the task [h] to stop.

    The task gets {!Cancelled} where it waits, and again in every operation in
    which it suspends later, until it ends. If a task was already resumed, it
    keeps its operation's outcome. If the task has ended, [cancel] does nothing.

    If you cancel the first task of a {!run}, all of its tasks are cancelled,
    and {!run} raises {!Cancelled} when they have ended. This holds even if the
    first task does not suspend again, and if it has ended before the others.

    - {b Suspends} never. Any task, thread or domain may call it. From another
      thread the request is passed to the scheduler, and an earlier resumption
      wins.
    - {b Cost}: O(1), or O(n) for the first task of [n] tasks and scopes. *)

val join : handle -> unit
(** [join h] waits until the task [h] has ended.

    It returns if [h] returned or was cancelled. Tasks of any host may call it.

    - {b Suspends} until [h] has ended.
    - {b Cancelled} while suspended, it raises the host's exception. [h]
      continues.
    - {b Order}. Tasks waiting for [h] continue in the order of their arrival.
    - {b Cost}: O(1). Cancelling takes amortised O(1).
    - {b Raises} [e] if [h] raised [e], with its backtrace.
    - {b Raises} [Invalid_argument] if [h] is the calling task. *)

val join_evt : handle -> unit Event.t
(** [join_evt h] is the event of {!join}.

    Use it to choose among the ends of several tasks, or between an end and
    another event. A task counts as joined only if its end was the chosen
    alternative.

    {[
      # Concord_fifo.run (fun () ->
          let name v () = Tasks.sleep (float_of_int v *. 0.001) in
          let a = Concord_fifo.fork (name 500) and b = Concord_fifo.fork (name 1) in
          let ended h v = Event.wrap (Concord_fifo.join_evt h) (fun () -> v) in
          let first = Event.select [ ended a "a"; ended b "b" ] in
          Concord_fifo.cancel a;
          first)
      - : string = "b"
    ]} *)

val protect : (unit -> 'a) -> 'a
(** [protect f] is [f ()], during which no cancellation is delivered to the
    calling task, as in {!Concord.Tasks.protect}.

    Scopes made inside are protected with it. If a cancellation comes meanwhile,
    the first suspension after [protect] raises it.

    - {b Suspends} only where [f] does.
    - {b Cost}: one effect.
    - {b Raises} [e] if [f] raises [e]. *)

(** Groups of tasks that end together.

    {[
      # Concord_fifo.run (fun () ->
          Concord_fifo.Scope.run (fun _ ->
              ignore (Concord_fifo.fork (fun () -> print_endline "a task"));
              "the scope has ended"))
      a task
      - : string = "the scope has ended"
    ]}

    {!Concord.Scope} has the same for tasks of every host. *)
module Scope : sig
  type t
  (** A scope, with the tasks forked in it, and the body of {!run}. *)

  val run : (t -> 'a) -> 'a
  (** [run body] calls [body] with a new scope, in the calling task, and returns
      its result after every task of the scope has ended.

      While [body] runs, the caller and the tasks of the scope fork into this
      scope.

      - {b Suspends} the caller until the tasks of the scope have ended.
      - {b Cancelled}, it cancels the tasks of the scope, and raises
        {!Cancelled} after they have ended.
      - {b Raises} [e] if [body] raised [e], after the scope's tasks were
        cancelled and have ended.
      - {b Raises} [e] if a task of the scope raised [e] and no task joined it,
        as in {!val:run}.
      - {b Raises} [Invalid_argument] outside {!val:run}.
      - {b Raises} {!Cancelled} if {!cancel} was called on the scope. *)

  val cancel : t -> unit
  (** [cancel scope] cancels the tasks and the body of [scope], as {!val:cancel}
      does a task. Nothing else is cancelled.

      - {b Suspends} never. Any task, thread or domain may call it.
      - {b Cost}: O(n), for [n] tasks and scopes in it. *)
end

(**/**)

type poller = {
  wait : (unit Concord_suspend.resumer -> unit option) -> unit;
      (** [wait] is like {!Concord.Tools.Suspend.suspend}, but may return too
          early, and blocks the thread. If it raises, all tasks are stopped. *)
  poll : unit -> unit;
      (** A busy loop calls [poll]. It neither waits nor raises. *)
  every : int;  (** The number of turns between two polls. *)
  spins : bool;  (** May the loop spin before it waits? *)
}
(** For [Concord_aio] only. A poller does the loop's work when all of its tasks
    wait. *)

val run_polled : (is_innermost:(unit -> bool) -> poller) -> (unit -> 'a) -> 'a
(** For [Concord_aio] only.

    This is {!run} with a poller. The thread of this loop calls
    [is_innermost ()], which is [true] if no other scheduler's loop runs in one
    of its tasks. *)
