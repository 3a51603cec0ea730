(** The one effect through which tasks of any scheduler wait, and the ways to
    reach hosts that do not handle it.

    Users of Concord's structures need nothing of this module but {!protect}.
    Authors of schedulers ({!Concord.Host_kit}) and of structures
    ({!Concord.Structure_kit}) read the contract first. *)

(** {1 The contract}

    It is the package [concord-suspend], which depends on OCaml alone. *)

include module type of struct
  include Concord_suspend
end

(** {1 Suspending the calling task} *)

val suspend : ('a resumer -> 'a option) -> 'a
(** [suspend block] suspends the calling task until the resumer that [block] was
    given is called, unless [block] returns a value.

    The host is found with nothing to set up: the innermost handler of
    {!extension-Suspend}; else the innermost scheduler that is registered with
    [Domain_local_await] (Eio and Domainslib are), through its plug-in if there
    is one; else the scheduler of the first plug-in that finds itself in one of
    its tasks; else the system thread is parked on a condition variable of its
    own. See {!Concord.Host_kit}, also for schedulers that are asked before the
    effect is performed.

    - {b Suspends} the task only, whatever its host.
    - {b Cancelled} while suspended: raises the host's exception; see H3.
    - {b Cost}: on {!Concord_fifo} three to four times that of performing an
      effect.
    - {b Raises} [e] if the resumer was called with [Error e], or [block] raised
      [e]. *)

exception Never_resumed
(** Raised where a task waits that nobody can resume any more, as the last
    reference to its resumer was dropped; only if the environment variable
    [CONCORD_DEBUG] is [leaks] when the program starts. The frames of the task
    are written to the standard error too. Also reported there is a host that
    breaks H3: one whose resumer answers [true] twice. That a resumer is called
    again, and answers [false], is no fault (H2).

    Without the variable such a task is lost, and what it holds is never given
    back. With it, a suspension costs some microseconds.

    What is found, when the garbage collector has finished a cycle (a thread
    that is about to sleep starts one; the loops of Eio, Lwt and Async do not):

    - tasks of {!Concord_fifo} and threads of the styles, but for
      [Concord_styles.Threads];
    - fibers of Eio if [concord-eio] is linked, and tasks of Domainslib;
    - on Lwt and Async, code in direct style, and the operations that give a
      promise or a deferred: those fail with the exception. But not what the
      main promise of Lwt's loop waits for by [Lwt.bind], as the result of a
      bind leads to what it waits for, to cancel it;
    - the last system thread of a program, on Linux, when it is about to wait in
      whatever, no timeout is pending, and the program handles no signal;
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

val protect : (unit -> 'a) -> 'a
(** [protect f] is [f ()], in which the innermost host that has cancellation
    does not deliver it: a cancellation that arrives meanwhile raises at the
    first suspension after [protect] returned. For a thread without scheduler,
    what a signal handler raises while the thread waits is a cancellation. A
    Domainslib task just calls [f], and so does an Eio fiber if [concord-eio] is
    not linked.

    - {b Suspends} only where [f] does.
    - {b Cost}: one effect. On a host that does not know {!extension-Protect} it
      comes back as an exception, and then the host is looked for as in
      {!suspend}.
    - {b Raises} [e] if [f] raises [e]. *)

val yield : unit -> unit
(** {!Concord.yield}: lets other ready tasks have their turn. *)

val is_cancelled : unit -> bool
(** Would a suspension of the calling task raise its host's cancellation?
    [false] for hosts without cancellation, and in {!protect}.

    - {b Suspends} no task, but a host may let others take their turn.
    - {b Cost}: that of a suspension which goes on at once. *)
