(** Concord's structures for Async: an operation that waits gives a deferred,
    and is woken by tasks of any host, in any domain.

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
      it takes is lost. {!select} and {!sync_before} lose nothing.
    - {b Order, cost}: those of the operation.
    - {b Execution context} (monitor, priority, locals): the same before and
      after a wait, and for the caller of {!direct}.
    - {b Handlers} of a deferred are run as Async's jobs, never by the thread
      that resumes the operation.
    - {b In other threads} (of [In_thread.run], of another domain) an operation
      that has to wait raises [Invalid_argument].
    - {b Direct-style operations} that have to wait in a job raise {!In_job},
      also in the function of [Thread_safe.run_in_async], and however Async was
      started.
    - {b Signal handlers} that raise, anywhere: a task that was resumed, or was
      to be woken, still is. *)

val go : ?raise_unhandled_exn:bool -> unit -> Core.never_returns
(** [go ()] is [Scheduler.go ()]. It differs for other libraries that wait by
    [Domain_local_await], as Kcas does: in a job they raise {!In_job} too, where
    otherwise they would freeze Async. *)

exception In_job
(** A direct-style operation had to wait in a job of Async, which cannot. Use
    the operation of that name in this module, or {!direct}. A lazy value whose
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

include Concord.Monadic.S with type 'a promise := 'a Async.Deferred.t
(** @inline *)
