(** The one effect through which tasks of any scheduler wait, and the ways to
    reach hosts without a handler for it.

    {b Stability}: stable.

    If you use Concord's structures, you don't need this module. If you write a
    scheduler ({!Concord.Tools.Host_kit}) or a structure
    ({!Concord.Tools.Structure_kit}), read the contract first. For example, a
    task waits here for a function with a callback:

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

    See also the pages on {{!/concord/eio}Eio} and {{!/concord/picos}Picos}.

    @canonical Concord.Tools.Suspend *)

(** {1 The contract}

    The contract is the package [concord-suspend], which depends on OCaml alone.
*)

(** @inline *)
include module type of struct
  include Concord_suspend
end

(** {1 Suspending the calling task} *)

val suspend : ('a resumer -> 'a option) -> 'a
(** [suspend block] suspends the calling task until the resumer passed to
    [block] is called.

    If [block] returns a value, the task isn't suspended.

    You don't need to set up anything. [suspend] uses the first of these:

    + The innermost handler of {!extension-Suspend}.
    + The innermost scheduler registered with [Domain_local_await], as Eio and
      Domainslib are, through its plug-in if there is one.
    + The scheduler of the first plug-in to find itself in one of its tasks.
    + A condition variable of the thread's own, on which it blocks the system
      thread.

    See {!Concord.Tools.Host_kit}, also for schedulers to be asked before the
    effect is performed.

    - {b Suspends} the task only, whatever its host.
    - {b Cancelled} while suspended, it raises the host's exception (see H3).
    - {b Cost}: three to four times an effect, on {!Concord_fifo}.
    - {b Raises} [e] if the resumer was called with [Error e], or [block] raised
      [e]. *)

exception Never_resumed
(** Nothing can resume the waiting task. The exception is raised where the task
    waits.

    {b Always.} On Linux a thread without a scheduler, or {!Concord_fifo}, gets
    the exception if the program has nothing else. This means no other thread or
    domain, now or before, no pending timeout, and no signal handler. Such a
    task would wait forever. For example, it locks its own mutex, reads a
    promise no other code has, or waits for [Event.select []]. In
    {!Concord_fifo} one task gets the exception at a time, starting with the
    innermost scope and the latest task. Tasks waiting for it, or for one of its
    locks, continue when it unwinds.

    {@text[
    let mutex = Mutex.create ()
    let () = Mutex.protect mutex (fun () -> Mutex.lock mutex)
    Fatal error: exception Concord.Tools.Suspend.Never_resumed: ...
    ]}

    The check costs a waiting thread a few microseconds until a second thread, a
    domain or a signal handler was seen. Afterwards it costs one read. A thread
    started by C code counts as any other. Signal handlers count for the signals
    1 to 31. A handler of a real-time signal is not seen, because the C library
    may have some for itself. A handler of [SIGSEGV] isn't seen either if it is
    the only one, because OCaml has one to notice a stack overflow.

    {b To find lost tasks} elsewhere, set the environment variable
    [CONCORD_DEBUG] to [leaks] before the program starts. Otherwise such a task
    is lost in silence, and never gives back what it holds. With [leaks], a task
    gets the exception once nothing refers to its resumer. The frames of the
    task are written to the standard error too. A report about a host that
    breaks H3 is on by default too, because its resumer answers [true] twice.
    (If a resumer is called again, and answers [false], it is not at fault, by
    H2.) A suspension costs some microseconds.

    Lost tasks are found when the garbage collector has finished a cycle. In a
    program with nothing to do, a thread of the library starts one. These are
    found:

    - tasks of {!Concord_fifo} and threads of the styles, but for
      [Concord_styles.Threads].
    - Eio fibers if [concord-eio] is linked, and Domainslib tasks.
    - on Lwt and Async, code in direct style, and operations that return a
      promise or a deferred. These fail with the exception.
    - the last system thread of a program, and the tasks of {!Concord_fifo} in
      it, as above. There may have been others before, if they have ended when
      it begins to wait. (The system may list a thread for a moment after it was
      joined. A thread of C's is overlooked as by {!In_handler}. In the child of
      a fork they may not be found once the child has had a second thread.)

    These are not found:

    - the wait for the main promise of Lwt's loop in [Lwt.bind]. The result of a
      bind refers to the promise it waits for, in order to cancel it.
    - the last job of a pool's domain before it fell idle, because the domain
      may refer to it until it runs the next one.
    - other system threads, if anything on their stack has the resumer. They are
      therefore not found in this library's structures, because the stack of an
      operation, and its caller's, refers to the structure. The runtime
      considers the stack of a thread alive.
    - Eio fibers without the plug-in, for the same reason, because Eio keeps
      them in order to cancel them.

    Some operations have no stack while they wait (of the indirect styles, Lwt,
    Async). They are reported with their calling frames. In
    [Concord_styles.Continuation], where operations are values, only the frames
    of the scheduler are reported.

    If several tasks wait for one another in a circle, each of them gets the
    exception. *)

exception In_handler
(** An operation had to wait in code outside of a scheduler's tasks, but in its
    loop, such as a signal handler, a finaliser, or a callback from C.

    No task can be suspended there, so the thread would wait, and the loop with
    it. No other thread, domain or timeout was left to resume the operation. The
    operation has changed nothing.

    {!Concord_fifo} raises this exception, and so do loops in
    {!Concord.Tools.Host_kit.using}, on Linux only. If there is another thread,
    the library can't know that it doesn't help, so the loop stands still until
    this thread resumes the operation.

    - A thread started by C code before OCaml had a second thread is overlooked
      as long as there is no other. But it might call OCaml, and resume the
      operation. The library can't tell it from OCaml's own thread, which OCaml
      has as soon as it has two. ({!Never_resumed} is more careful if you
      haven't asked for it by [leaks], because there such a thread counts.)
    - Signal handlers do not count. OCaml runs a signal handler in whichever
      domain polls first, which may be the domain the handler waits for. Block
      the signal there, before [Domain.spawn], because a handler in a starting
      domain may also end OCaml 5.4 in a segmentation fault.
    - Lwt and Async refuse to wait in any case ([Concord_lwt.In_callback],
      [Concord_async.In_job]). In Eio's loop the thread waits, forever if only
      one of the loop's fibers could resume it. *)

(**/**)

(** {!Concord.Tasks} has these functions for users. *)

val protect : (unit -> 'a) -> 'a
val yield : unit -> unit
val is_cancelled : unit -> bool
