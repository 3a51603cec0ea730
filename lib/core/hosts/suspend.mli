(** The one effect through which tasks of any scheduler wait, and the ways to
    reach hosts that do not handle it.

    {b Stability}: stable.

    If you use Concord's structures, you don't need this module. If you write a
    scheduler ({!Concord.Tools.Host_kit}) or a structure
    ({!Concord.Tools.Structure_kit}), read the contract first. For example, a
    task waits here for a function that takes a callback:

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
(** [suspend block] suspends the calling task until the resumer that [block] was
    given is called.

    If [block] returns a value, the task isn't suspended.

    You don't need to set up anything. [suspend] uses the first of these that
    exists:

    + The innermost handler of {!extension-Suspend}.
    + The innermost scheduler that is registered with [Domain_local_await], as
      Eio and Domainslib are, through its plug-in if there is one.
    + The scheduler of the first plug-in that finds itself in one of its tasks.
    + A condition variable of the thread's own, on which it blocks the system
      thread.

    See {!Concord.Tools.Host_kit}, also for schedulers that are asked before the
    effect is performed.

    - {b Suspends} the task only, whatever its host.
    - {b Cancelled} while suspended, it raises the host's exception (see H3).
    - {b Cost}: three to four times that of performing an effect, on
      {!Concord_fifo}.
    - {b Raises} [e] if the resumer was called with [Error e], or [block] raised
      [e]. *)

exception Never_resumed
(** Nothing can resume the waiting task. The exception is raised where the task
    waits.

    {b Always.} On Linux a thread that runs no scheduler, or {!Concord_fifo},
    gets the exception if the program has nothing else. This means no other
    thread or domain, now or before, no pending timeout, and no signal handler.
    Such a task would wait forever. For example, it locks its own mutex, reads a
    promise that no other code has, or waits for [Event.select []]. In
    {!Concord_fifo} one task gets the exception at a time, that of the innermost
    scope and the latest first. The tasks that wait for it, or for a lock that
    it holds, continue when it unwinds.

    {@text[
    let mutex = Mutex.create ()
    let () = Mutex.protect mutex (fun () -> Mutex.lock mutex)
    Fatal error: exception Concord.Tools.Suspend.Never_resumed: ...
    ]}

    The check costs a thread that waits a few microseconds until a second
    thread, a domain or a signal handler was seen. After that it costs one read.
    A thread that C code has started counts as any other. Signal handlers count
    for the signals 1 to 31. A handler of a real-time signal is not seen,
    because the C library may have some for itself. A handler of [SIGSEGV] is
    not seen either if it is the only one, because OCaml has one to notice that
    the stack is used up.

    {b To find lost tasks} elsewhere, set the environment variable
    [CONCORD_DEBUG] to [leaks] before the program starts. Otherwise such a task
    is lost in silence, and never gives back what it holds. With [leaks], a task
    gets the exception once nothing refers to its resumer. The frames of the
    task are written to the standard error too. So is a report of a host that
    breaks H3, because its resumer answers [true] twice. (A resumer that is
    called again, and answers [false], is not at fault, by H2.) A suspension
    costs some microseconds.

    Lost tasks are found when the garbage collector has finished a cycle. A
    thread that is about to sleep starts a cycle, but the loops of Eio, Lwt and
    Async do not. These are found:

    - tasks of {!Concord_fifo} and threads of the styles, but for
      [Concord_styles.Threads].
    - fibers of Eio if [concord-eio] is linked, and tasks of Domainslib.
    - on Lwt and Async, code in direct style, and the operations that return a
      promise or a deferred, which fail with the exception.
    - the last system thread of a program, and the tasks of {!Concord_fifo} in
      it, as above. There may have been others before, if they have ended when
      it begins to wait. (The system may list a thread for a moment after it was
      joined. A thread of C's is overlooked as by {!In_handler}. In the child of
      a fork they may not be found once the child has had a second thread.)

    These are not found:

    - the wait of the main promise of Lwt's loop by [Lwt.bind]. The result of a
      bind refers to the promise that it waits for, in order to cancel it.
    - the last job that a domain of a pool ran before it fell idle, because the
      domain may refer to it until it runs the next one.
    - other system threads, if anything that their stack refers to has the
      resumer. So they are not found in a structure of this library, because the
      stack of an operation, and that of its caller, refers to the structure.
      The runtime considers the stack of a thread alive.
    - fibers of Eio without the plug-in, for the same reason, because Eio keeps
      them in order to cancel them.

    Some operations have no stack while they wait (of the indirect styles, Lwt,
    Async). They are reported with the frames that called them. In
    [Concord_styles.Continuation], where operations are values, only the frames
    of the scheduler are reported.

    If several tasks wait for one another in a circle, each of them gets the
    exception. *)

exception In_handler
(** An operation had to wait in code that a scheduler's loop runs outside of its
    tasks, such as a signal handler, a finaliser, or a callback from C.

    No task can be suspended there, so the thread would wait, and the loop with
    it. No other thread, domain or timeout was left that could have resumed the
    operation. The operation has changed nothing.

    {!Concord_fifo} raises this exception, and so do loops that run in
    {!Concord.Tools.Host_kit.using}, on Linux only. If there is another thread,
    the library can't know that it doesn't help, so the loop stands still until
    that thread resumes the operation.

    - A thread that C code has started before OCaml had a second thread is
      overlooked as long as there is no other. But it might call OCaml, and
      resume the operation. The library can't tell it from the thread that OCaml
      has for itself as soon as it has two. ({!Never_resumed} is more careful if
      you haven't asked for it by [leaks], because there such a thread counts.)
    - Signal handlers do not count. OCaml runs a signal handler in whichever
      domain polls first, which may be the domain that the handler waits for. So
      block the signal there, before [Domain.spawn], because a handler in a
      domain that is beginning may also end OCaml 5.4 in a segmentation fault.
    - Lwt and Async refuse to wait in any case ([Concord_lwt.In_callback],
      [Concord_async.In_job]). In Eio's loop the thread waits, forever if only a
      fiber of that loop could resume it. *)

(**/**)

(** {!Concord.Tasks} has these functions for users. *)

val protect : (unit -> 'a) -> 'a
val yield : unit -> unit
val is_cancelled : unit -> bool
