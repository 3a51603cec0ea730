(** A scheduler for lightweight tasks, first in, first out, on one domain.

    {b Stability}: stable.

    It is the scheduler of "Effectively Composing Concurrency Libraries"
    (sections 3.1, 3.4 and 4), made right: its tasks wait on Concord's
    structures together with those of any other library, are resumed from any
    domain or thread, and can be cancelled without losing anything.

    {!run} may be called anywhere: in a plain thread or domain, in an Eio fiber,
    in a Domainslib task, in a task of another [run]. When all of its tasks wait
    it suspends the task that called it, and only that.

    {[
      # Concord_fifo.run (fun () ->
          let box = Mvar.create_empty () in
          let producer = Concord_fifo.fork (fun () -> Mvar.put box "hello") in
          let v = Mvar.take box in
          Concord_fifo.join producer;
          v)
      - : string = "hello"
    ]} *)

exception Cancelled
(** Raised in a cancelled task, by every operation that suspends. *)

type handle
(** A task. A handle can be kept after the task has ended; it is small. *)

val run : ?cancellation:[ `Eager | `Lazy ] -> (unit -> 'a) -> 'a
(** [run f] calls [f] in a new task and returns its result after it and all the
    tasks that it forked, directly or not, have ended. ({!fork_daemon} forks
    tasks that are cancelled then.)

    With [`Eager] cancellation (the default) a suspended task that is cancelled
    is unwound in its next turn: it becomes the last of the ready tasks. With
    [`Lazy] (section 4.3 of the paper) cancelling only marks it. It becomes
    ready when an operation that would have resumed it arrives, or when no other
    task is ready, and at the latest after 256 turns of other tasks.

    Either way the task gets nothing from the moment of cancelling: a value, a
    lock or a permit goes to another task. Until the task is unwound, its waiter
    is still in the queue, and counts wherever mere presence does: a cancelled
    writer keeps the readers behind it out of a [Rwlock], and functions like
    [Mvar.waiters] count it. So the waiters that a structure keeps are the live
    ones, and those whose tasks were cancelled in the last 256 turns.

    - {b Suspends} the calling task, whatever its host, while all tasks wait.
      Before it puts a thread or domain to sleep it looks for some ten
      microseconds, if there is a second domain, and that was worth it before.
      If the program has nothing else that could resume a task, one of them is
      told ({!Concord.Tools.Suspend.Never_resumed}). An effect that a handler
      around [run] handles, an operation of Eio in a fiber that called [run] for
      example, suspends all of its tasks; and to Eio they are one fiber, so that
      switches or [Eio.Fiber.first] of two of them must not overlap.
    - {b Cost}: if [run] is called in a task of another [run], and so on, then
      while no task of the innermost is ready, each of these loops waits as a
      task of the one around it. So its next task to be resumed costs one more
      suspension for each level, as does an effect that a handler around all of
      them handles.
    - {b Cancelled} by the host of the calling task while suspended: cancels all
      tasks, waits for them, and re-raises the host's exception. (In an Eio
      fiber this needs [concord-eio]; without it [run] can no more suspend the
      cancelled fiber, and blocks its domain while the tasks unwind.)
    - {b Signals}: a handler that raises ([Sys.catch_break]), or a finaliser,
      interrupts whatever runs. If that is a task, or an operation in which a
      task is about to suspend, it is raised there, and the operation has done
      nothing. If it is the scheduler, or the scheduler waits in its host, then
      all tasks are cancelled and [run] raises the exception when they have
      ended. Of several such exceptions one is raised. No task is abandoned.
      (The bytecode interpreter runs handlers at more places, and so does code
      of OCaml 5.1 and 5.2. There a task that is interrupted just as it suspends
      or goes on may end without being unwound, and what it was given is lost.)
    - {b Raises} [e] if [f] raised [e], after the other tasks were cancelled and
      have ended; or if a task raised [e] and no task called {!join} on it. The
      backtrace is that of the task. A task whose exception nobody has observed
      by a join also cancels the others, as soon as no task is ready to run: so
      a failure is seen even if all others wait for the task that failed.

    @raise Cancelled if the first task was cancelled, whatever [f] returned. *)

val fork : (unit -> unit) -> handle
(** [fork f] runs [f] in a new task of the caller's scope. The new task runs at
    once, and the caller goes on after the other ready tasks have had their
    turn.

    - {b Suspends} the caller as {!yield} does.
    - {b Cancelled}: raises {!Cancelled} before [f] is called, or not at all.
    - {b Cost}: O(1), and a stack for the task.
    - {b Raises} [Invalid_argument] outside of {!run}. *)

val fork_promise : (unit -> 'a) -> 'a Promise.t
(** [fork_promise f] forks a task that fills the promise with [f ()], or makes
    it fail with the exception that [f] raised, {!Cancelled} included; such an
    exception counts as observed. Nothing happens if you resolved the promise
    before. Otherwise as {!fork}. *)

val fork_daemon : (unit -> unit) -> handle
(** As {!fork}, for a task that does not keep its scope from ending: it is
    cancelled when the body of the scope, or the first task of {!run}, and all
    other tasks that were forked there have ended. They include those that a
    daemon has forked by {!fork}. {!run}, and {!Scope.run}, return when it has
    been unwound. A daemon may end by itself; if it raises, it has failed like
    any other task.

    {[
      # Concord_fifo.run (fun () ->
          let numbers = Mvar.create_empty () in
          let rec count n = Mvar.put numbers n; count (n + 1) in
          ignore (Concord_fifo.fork_daemon (fun () -> count 1));
          List.init 3 (fun _ -> Mvar.take numbers))
      - : int list = [1; 2; 3]
    ]}

    On other hosts {!Concord.Scope.cancel}, called at the end of the body, ends
    what runs beside it.

    - {b Raises} [Invalid_argument] outside of {!run}. *)

val yield : unit -> unit
(** Lets the other ready tasks have their turn.

    - {b Suspends} the caller until then.
    - {b Cancelled}: raises {!Cancelled}.
    - {b Order}: the caller goes on after the tasks that are ready now.
    - {b Cost}: O(1).
    - {b Raises} [Invalid_argument] outside of {!run}. *)

val self : unit -> handle
(** The calling task. Never suspends; O(1).

    - {b Raises} [Invalid_argument] outside of {!run}. *)

val cancel : handle -> unit
(** [cancel h] asks the task [h] to stop: {!Cancelled} is raised where it waits,
    and again by every operation in which it suspends later, until it ends. A
    task that was already resumed keeps the outcome of that operation. Nothing
    happens if the task has ended.

    Cancelling the first task of a {!run} cancels all of its tasks, and {!run}
    raises {!Cancelled} when they have ended. This holds also if the first task
    does not suspend again, and if it has ended before the others.

    Any task, thread, domain or signal handler may call it; it never suspends.
    From another thread the request is passed to the scheduler, and a resumption
    that comes earlier wins.
    - {b Cost}: O(1); for the first task, O(n) for [n] tasks and scopes. *)

val join : handle -> unit
(** [join h] waits until [h] has ended. It returns if [h] returned or was
    cancelled. Tasks of any host may call it.

    - {b Suspends} until [h] has ended.
    - {b Cancelled} while suspended: raises the host's exception; [h] goes on.
    - {b Order}: tasks that wait for [h] go on in the order of their arrival.
    - {b Cost}: O(1), also to withdraw (amortised).
    - {b Raises} [e] if [h] raised [e], with its backtrace.
    - {b Raises} [Invalid_argument] if [h] is the calling task. *)

val join_evt : handle -> unit Event.t
(** The event of {!join}: to choose among the ends of several tasks, or an end
    and something else. A task counts as joined only if its end was the
    alternative that was chosen.

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
(** {!Concord.Tasks.protect}: [protect f] is [f ()], during which no
    cancellation is delivered to the calling task. Scopes that are made inside
    are protected with it. A cancellation that comes meanwhile is raised by the
    first suspension after [protect].

    - {b Suspends} only where [f] does.
    - {b Cost}: that of one effect.
    - {b Raises} [e] if [f] raises [e]. *)

(** Groups of tasks that end together. *)
module Scope : sig
  type t
  (** A scope: the tasks forked in it, and the body of {!run}. *)

  val run : (t -> 'a) -> 'a
  (** [run body] calls [body] with a new scope, in the calling task, and returns
      its result after every task of the scope has ended. While [body] runs, the
      caller and the tasks of the scope fork into this scope.

      - {b Suspends} the caller until the tasks of the scope have ended.
      - {b Cancelled}: the tasks of the scope are cancelled, and [run] raises
        {!Cancelled} after they have ended.
      - {b Raises} [e] if [body] raised [e], after the scope's tasks were
        cancelled and have ended; or if a task of the scope raised [e] and no
        task joined it, as in {!val:run}.
      - {b Raises} [Invalid_argument] outside of {!val:run}.

      @raise Cancelled if {!cancel} was called on the scope. *)

  val cancel : t -> unit
  (** Cancels the tasks and the body of the scope, as {!val:cancel} does a task;
      nothing else is cancelled. Any task, thread, domain or signal handler may
      call it; it never suspends.

      - {b Cost}: O(n), for [n] tasks and scopes in it. *)
end

(** {2 Values of a task}

    A task can bind values to keys. The tasks that it forks meanwhile inherit
    them: those of {!fork}, {!fork_promise}, {!fork_daemon}, and of
    {!Concord.Scope} and {!Concord.Tasks} in a task of {!run}. Not those of a
    {!run} inside it, of other hosts, or of threads. A program that binds
    nothing pays nothing for it.

    These functions do not suspend, but need a running scheduler. *)

type 'a key
(** What values of type ['a] are bound to. *)

val create_key : unit -> 'a key
(** A new key, for all schedulers. It can be called anywhere. *)

val get : 'a key -> 'a option
(** What the calling task has bound to the key, or inherited; else [None].
    - {b Cost}: that of one effect, and O(n) for [n] keys that are bound.

    {[
      # let user : string Concord_fifo.key = Concord_fifo.create_key ()
      val user : string Concord_fifo.key = <abstr>
      # Concord_fifo.run (fun () ->
          Concord_fifo.with_binding user "Ada" (fun () ->
            let seen = Concord_fifo.fork_promise (fun () -> Concord_fifo.get user) in
            Promise.await seen))
      - : string option = Some "Ada"
    ]}
    - {b Raises} [Invalid_argument] outside of {!run}. *)

val with_binding : 'a key -> 'a -> (unit -> 'b) -> 'b
(** [with_binding key v f] is [f ()], in which [key] is bound to [v], for the
    calling task and those that it forks there. These keep the binding for as
    long as they run. Cost as {!get}.

    - {b Raises} [Invalid_argument] outside of {!run}.
    - {b Raises} [e] if [f] raises [e]. *)

val without_binding : 'a key -> (unit -> 'b) -> 'b
(** [without_binding key f] is [f ()], in which nothing is bound to [key].
    Otherwise as {!with_binding}. *)

(**/**)

val run_as_guest : (unit -> 'a) -> 'a
(** For {!Concord.Scope} only: {!run} that, while it always has something to do,
    lets the other tasks of its host have a turn every 10 ms. *)

type poller = {
  wait : (unit Suspend.resumer -> unit option) -> unit;
      (** As {!Concord.Tools.Suspend.suspend}, but may return too early, and
          blocks the thread. What it raises stops all tasks. *)
  poll : unit -> unit;
      (** Called by a loop that is busy. Neither waits nor raises. *)
  every : int;  (** Turns between two polls. *)
  spins : bool;  (** May the loop spin before it waits? *)
}
(** For [Concord_aio] only: what a loop does when all of its tasks wait. *)

val run_polled : (is_innermost:(unit -> bool) -> poller) -> (unit -> 'a) -> 'a
(** For [Concord_aio] only: {!run} with a poller. [is_innermost ()], called by
    the thread of this loop: is no other scheduler's loop running in one of its
    tasks? *)
