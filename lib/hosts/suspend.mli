(** The one effect through which tasks of any scheduler wait, and the ways to
    reach hosts that do not handle it.

    {b Stability}: stable.

    Users of Concord's structures need nothing of this module. Authors of
    schedulers ({!Concord.Tools.Host_kit}) and of structures
    ({!Concord.Tools.Structure_kit}) read the contract first.

    @canonical Concord.Tools.Suspend *)

(** {1 The contract}

    It is the package [concord-suspend], which depends on OCaml alone. *)

include module type of struct
  include Concord_suspend
end

(** {1 Suspending the calling task} *)

val suspend : ('a resumer -> 'a option) -> 'a
(** [suspend block] suspends the calling task until the resumer that [block] was
    given is called, unless [block] returns a value. For example, a task waits
    for a function that takes a callback:

    {[
      # let await_callback call =
          Tools.Suspend.suspend (fun resumer ->
              call (fun v -> ignore (resumer (Ok v) : bool));
              None)
      val await_callback : (('a -> unit) -> 'b) -> 'a = <fun>
      # let later callback =
          ignore (Thread.create (fun () -> Thread.yield (); callback 42) ())
      val later : (int -> 'a) -> unit = <fun>
      # await_callback later
      - : int = 42
    ]}

    The host is found with nothing to set up: the innermost handler of
    {!extension-Suspend}; else the innermost scheduler that is registered with
    [Domain_local_await] (Eio and Domainslib are), through its plug-in if there
    is one; else the scheduler of the first plug-in that finds itself in one of
    its tasks; else the system thread is parked on a condition variable of its
    own. See {!Concord.Tools.Host_kit}, also for schedulers that are asked
    before the effect is performed.

    - {b Suspends} the task only, whatever its host.
    - {b Cancelled} while suspended: raises the host's exception; see H3.
    - {b Cost}: on {!Concord_fifo} three to four times that of performing an
      effect.
    - {b Raises} [e] if the resumer was called with [Error e], or [block] raised
      [e]. *)

exception Never_resumed
(** Raised where a task waits that nobody can resume any more.

    {b Always}: on Linux a thread that runs no scheduler, or {!Concord_fifo}, is
    told where the program has nothing else: no other thread or domain, now or
    before, no pending timeout, no signal handler. What waits there would wait
    for ever: a task that locks its own mutex, the reader of a promise that
    nobody has, [Event.select []]. Of the tasks of {!Concord_fifo} one is told
    at a time, the innermost scope's and latest first: those that wait for it,
    or for what it holds, go on when it unwinds. It costs a thread that waits a
    few microseconds until a second thread, a domain or a signal handler was
    seen; then one read.

    {v
    let mutex = Mutex.create ()
    let () = Mutex.protect mutex (fun () -> Mutex.lock mutex)
    Fatal error: exception Concord.Tools.Suspend.Never_resumed: ...
    v}

    A thread that C code has started counts as any other. Signal handlers count
    for the signals 1 to 31: one of a real-time signal is not seen, as the C
    library may have some for itself, nor is one of [SIGSEGV] if it is the only
    one, as OCaml has one to notice that the stack is used up.

    {b To look for lost tasks}: elsewhere such a task is lost in silence, and
    what it holds is never given back, unless the environment variable
    [CONCORD_DEBUG] is [leaks] when the program starts. Then a task is told
    whose resumer nothing refers to any more, and the frames of the task are
    written to the standard error too. Also reported there is a host that breaks
    H3: one whose resumer answers [true] twice. That a resumer is called again,
    and answers [false], is no fault (H2). A suspension costs some microseconds.

    What is found, when the garbage collector has finished a cycle (a thread
    that is about to sleep starts one; the loops of Eio, Lwt and Async do not):

    - tasks of {!Concord_fifo} and threads of the styles, but for
      [Concord_styles.Threads];
    - fibers of Eio if [concord-eio] is linked, and tasks of Domainslib;
    - on Lwt and Async, code in direct style, and the operations that give a
      promise or a deferred: those fail with the exception. But not what the
      main promise of Lwt's loop waits for by [Lwt.bind], as the result of a
      bind leads to what it waits for, to cancel it;
    - the last system thread of a program, and the tasks of {!Concord_fifo} in
      it, as above, also if there were others before, and have ended when it
      begins to wait: the system may list one for a moment after it was joined;
      but a thread of C's is overlooked as by {!In_handler}; in the child of a
      fork they may not be told once the child has had a second thread;
    - not the last job that a domain of a pool ran before it fell idle: the
      domain may refer to it until it runs the next one;
    - other system threads only if nothing that their stack refers to has the
      resumer: not in a structure of this library, since the stack of an
      operation, and that of its caller, refers to it. The runtime takes the
      stack of a thread for alive. So it is with fibers of Eio without the
      plug-in, as Eio keeps them in order to cancel them.

    An operation that has no stack while it waits (of the indirect styles, Lwt,
    Async) is reported with the frames that called it; in
    [Concord_styles.Continuation], where operations are values, with those of
    the scheduler only.

    If several tasks wait for one another in a circle, each of them is told. *)

exception In_handler
(** An operation had to wait in code that a scheduler's loop runs outside of its
    tasks: a signal handler, a finaliser, a callback from C. No task can be
    suspended there, so that the thread waits, and the loop with it; and nothing
    was left that could have resumed it: no other thread or domain, and no
    timeout. The operation has changed nothing.

    Told by {!Concord_fifo}, and by what runs in
    {!Concord.Tools.Host_kit.using}, on Linux. If there is another thread, it is
    not known that this does not help: the loop stands still until that resumes
    the operation. A thread that C code has started before OCaml had a second
    thread is overlooked as long as there is no other, although it might call
    OCaml, and resume the operation: it cannot be told from the thread that
    OCaml has for itself as soon as it has two. ({!Never_resumed} is more
    careful where nobody has asked for it: there such a thread counts.) Signal
    handlers do not count. OCaml runs a signal handler in whichever domain polls
    first, which may be the one that it waits for: block the signal there,
    before [Domain.spawn], as a handler in a domain that is beginning may also
    end OCaml 5.4 in a segmentation fault. Lwt and Async refuse to wait in any
    case ([Concord_lwt.In_callback], [Concord_async.In_job]). In Eio's loop the
    thread waits, for ever if only a fiber of that loop could resume it. *)

(**/**)

(** {!Concord.Tasks} has them for users. *)

val protect : (unit -> 'a) -> 'a
val yield : unit -> unit
val is_cancelled : unit -> bool
