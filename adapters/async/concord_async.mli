(** Concord's structures for Async: an operation that waits gives a deferred,
    and is woken by tasks of any host, in any domain.

    {b Stability}: experimental, because it uses private parts of Async
    ([Scheduler.Private]). The structures are stable as those of [Concord], but
    a new release of Async may need a new release of this library.

    {v
    open Core
    open Async

    let box : string Concord_async.Mvar.t = Concord_async.Mvar.create_empty ()

    let () =
      let put () = Concord.Mvar.put box "another domain" in
      let domain = Domain.spawn (fun () -> Concord_fifo.run put) in
      upon (Concord_async.Mvar.take box) (fun from ->
          print_endline from;
          Domain.join domain;
          shutdown 0);
      never_returns (Concord_async.go ())
    v}

    Async is not patched, and only its own thread touches its state: other
    threads put what they want done into an inbox, and wake the scheduler if it
    sleeps. Only code of Async can call the functions below that give a
    deferred. (Section 5 of "Effectively Composing Concurrency Libraries".)

    {2 What holds for all}

    - {b Failure}: an exception is sent to the monitor of the caller, with its
      backtrace, whether the operation waited or not; it is never raised by the
      call. The deferred is then never determined. [Monitor.try_with] turns it
      into a value.
    - {b Cancelled}: never. An operation that [Deferred.choose] or
      [Clock.with_timeout] has dropped still waits, and will be performed: what
      it takes is lost. {!select}, with {!determined} for deferreds, and
      {!Clock.with_timeout} lose nothing.
    - {b Order, cost}: those of the operation.
    - {b Execution context} (monitor, priority, locals): the same before and
      after a wait, and for the caller of {!direct}.
    - {b Handlers} of a deferred are run as Async's jobs, never by the thread
      that resumes the operation.
    - {b Sleeping}: while operations wait, Async looks for some ten microseconds
      whether one was resumed, if there is a second domain and more than one
      core, and it has nothing else to do. It learns where that is in vain. A
      timer, or input, may be served so much later; if other domains go on
      sending, up to 64 times as much.
    - {b In other threads} (of [In_thread.run], of another domain) an operation
      that has to wait raises [Invalid_argument].
    - {b Direct-style operations} that have to wait in a job raise {!In_job},
      also in the function of [Thread_safe.run_in_async], and however Async was
      started. Linking this library is enough for that: the linker keeps all of
      it, even if your program doesn't name it. Once a job has called [exit], as
      [Async.shutdown] does, they block the thread, in functions of [at_exit],
      until another thread, a domain or a timeout wakes it; if there is none
      they raise {!In_job}.
    - {b Signal handlers} that raise, anywhere: a task that was resumed, or was
      to be woken, still is. *)

val go : ?raise_unhandled_exn:bool -> unit -> Core.never_returns
(** [go ()] is [Scheduler.go ()]. It differs for other libraries that wait by
    [Domain_local_await], as Kcas does: in a job they raise {!In_job} too, where
    otherwise they would freeze Async. *)

exception In_job
(** A direct-style operation had to wait in a job of Async, which cannot; or in
    a signal handler or a finaliser that ran in the scheduler's thread. Use the
    operation of that name in this module, or {!direct}. A lazy value whose
    computation got this exception has not failed: it is computed again where it
    is forced next. *)

val to_deferred : 'a Concord.Promise.t -> 'a Async.Deferred.t
(** {!Promise.await}, as a conversion. Suspends, orders and costs as that.

    - {b Raises} [Invalid_argument] in a thread that does not run Async, if it
      has to wait. *)

val of_deferred : 'a Async.Deferred.t -> 'a Concord.Promise.t
(** A promise that is filled when the deferred is determined. A deferred does
    not fail: [of_deferred (Monitor.try_with f)] promises a result.

    - {b Raises} [Invalid_argument] in a thread that does not run Async. *)

val post : (unit -> 'a Async.Deferred.t) -> 'a Concord.Promise.t
(** [post f] has Async call [f ()] as a job, in its main monitor, and is a
    promise of what that gives. From any thread of any domain, and in Async as
    well.

    Async has one scheduler. What is posted before it runs is called when it
    does, by {!go}, or after code of Async has called a function of this module
    that gives a deferred. While it does not run, between two calls of
    [Thread_safe.block_on_async], a job waits for the next one. A program whose
    Async does not run at all waits for ever.

    - {b Suspends} no task; signal handlers, finalisers and callbacks may call
      it.
    - {b Cancelled}: the task that awaits the promise is; [f] goes on.
    - {b Order}: that of the calls.
    - {b Cost}: O(1). A system call only if no cycle is on.

    The promise fails with what [f] raises, or sends to its monitor first; what
    comes later goes to the main monitor. *)

(** {2 Instead of giving up a deferred} *)

val determined : 'a Async.Deferred.t -> 'a Concord.Event.t
(** The event that the deferred is determined, with its value: for {!select}.
    Either an operation is performed or the deferred is chosen; what was not
    chosen has been withdrawn, and nothing of it is left, neither in the
    structure nor in the deferred.

    {v
    match%bind
      Concord_async.select
        [
          Concord.Event.wrap (Concord.Mailbox.take_evt box) Option.some;
          Concord.Event.wrap (Concord_async.determined stop) (fun () -> None);
        ]
    v}

    - {b Order}: as for [Deferred.choose], if both are ready: either.
    - {b Cost}: one [Deferred.choose].

    Performing it raises [Invalid_argument] in a thread that does not run Async.
*)

(** Timeouts in seconds as a float. *)
module Clock : sig
  val timeout : Core.Time_float.Span.t -> unit Concord.Event.t
  (** {!Concord.Event.timeout}. *)

  val with_timeout :
    Core.Time_float.Span.t ->
    'a Concord.Event.t ->
    [ `Timeout | `Result of 'a ] Async.Deferred.t
  (** [with_timeout span event] performs [event]; or has the value [`Timeout],
      and has not performed it, as {!sync_before}. *)
end

(** Timeouts in nanoseconds. *)
module Clock_ns : sig
  val timeout : Core.Time_ns.Span.t -> unit Concord.Event.t
  (** As {!Clock.timeout}. *)

  val with_timeout :
    Core.Time_ns.Span.t ->
    'a Concord.Event.t ->
    [ `Timeout | `Result of 'a ] Async.Deferred.t
  (** As {!Clock.with_timeout}. *)
end

(** {2 Pipes} *)

val to_pipe : 'a Concord.Event.t -> 'a Async.Pipe.Reader.t
(** [to_pipe event] performs [event], such as [Mailbox.take_evt mailbox], again
    and again, and writes what it gives into the pipe, with the pipe's pushback:
    it is one item ahead of the reader. It closes the pipe when [event] raises
    [Concord.Mailbox.Closed]. When the reader closes the pipe, [event] is
    withdrawn. (What is in the pipe then, or was taken for it just before, is
    lost, as with any pipe.) *)

val feed :
  'a Concord.Stream.t -> 'a Async.Pipe.Reader.t -> unit Async.Deferred.t
(** [feed stream reader] adds the items of the pipe to [stream], and waits while
    that is full. It closes [stream] when the pipe has ended. If [stream] is
    closed by others, it closes the pipe, with the item that found [stream]
    closed. Nobody else may read the pipe meanwhile. *)

include Concord.Tools.Monadic.S with type 'a promise := 'a Async.Deferred.t
(** @inline *)
