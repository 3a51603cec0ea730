(** Concord's structures for Async. Blocking operations return a deferred, which
    tasks of any host can determine, from any domain.

    {b Stability}: experimental, because it uses Async's private parts
    ([Scheduler.Private]). The structures are as stable as in [Concord], but a
    new Async release may need a new release of this library.

    An Async deferred belongs to one thread, and another domain can't determine
    it. With this library it can:

    {@ocaml skip[
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
    ]}

    Async is not patched, and only its own thread touches its state. Other
    threads put their requests into an inbox, and wake the scheduler if it
    sleeps. Only Async code can call the functions below that return a deferred.
    (Section 5 of "Effectively Composing Concurrency Libraries".)

    See also {{!/concord/async}Concord for those who know Async}.

    {2 Rules for all operations}

    - {b Failure}. An exception is sent to the monitor of the caller, with its
      backtrace, whether the operation waited or not. The call itself never
      raises it, and the deferred is never determined. Use [Monitor.try_with] to
      turn the exception into a value.
    - {b Cancelled} never. If [Deferred.choose], [Deferred.any] or Async's
      [Clock.with_timeout] drops an operation, the operation still waits and
      will be performed. The item it takes is lost, and a lock it gets is never
      released. Use {!select} (with {!determined} for deferreds) or
      {!Clock.with_timeout} of this module instead, because they withdraw the
      losers. For code with several waits, use {!Concord.Tasks.with_timeout} or
      {!Concord.Tasks.first} in {!direct}.
    - {b Order} and {b cost} are the same as in Concord.
    - {b Execution context} (monitor, priority, locals) is the same before and
      after a wait, and for the caller of {!direct}. It is also kept for each
      task of {!Concord.Tasks}, {!Concord.Scope} and {!Concord_fifo} in
      {!direct}.
    - {b Handlers} of a deferred run as Async jobs, never in the thread resuming
      the operation.
    - {b Spinning} may delay timers and input by up to 70 microseconds. When
      another domain or thread has resumed an operation or posted a job, it may
      soon do so again. For this reason, Async spins for this long before it
      sleeps, until it has spun in vain. It spins only if there are a second
      domain and more than one core and no job of {!post} runs, and it learns
      where spinning is in vain. If other domains keep sending, the delay can be
      up to 64 times as long.
    - {b In other threads} (of [In_thread.run], or of another domain) an
      operation raises [Invalid_argument] if it has to wait.
    - {b Direct-style operations} raise {!In_job} if they have to wait in a job,
      also in the function of [Thread_safe.run_in_async], and however Async was
      started. You only have to link this library, because the linker keeps all
      of it even if your program doesn't name it. There is one exception, for
      functions of [at_exit] after a job has called [exit], as [Async.shutdown]
      does. There, such operations block the thread until another thread, a
      domain or a timeout wakes it. If nothing can wake it, they raise
      {!In_job}. *)

(** {2 Starting Async, and passing results} *)

val go : ?raise_unhandled_exn:bool -> unit -> Core.never_returns
(** [go ()] is [Scheduler.go ()], except for other libraries that wait through
    [Domain_local_await], as Kcas does. In a job they raise {!In_job} too,
    instead of freezing Async. *)

exception In_job
(** A direct-style operation had to wait in an Async job, or in a signal handler
    or a finaliser in the scheduler's thread.

    These can't wait. Use the operation of the same name in this module, or
    {!direct}. If the computation of a lazy value gets this exception, the value
    has not failed. It is computed again where it is forced next. *)

val to_deferred : 'a Concord.Promise.t -> 'a Async.Deferred.t
(** [to_deferred promise] is {!Promise.await}, as a conversion. It suspends,
    orders and costs the same.

    - {b Raises} [Invalid_argument] if it has to wait in a thread that doesn't
      run Async. *)

val of_deferred : 'a Async.Deferred.t -> 'a Concord.Promise.t
(** [of_deferred deferred] is a promise, which is filled when [deferred] is
    determined. A deferred does not fail, so use
    [of_deferred (Monitor.try_with f)] to get a promise of a result.

    - {b Raises} [Invalid_argument] in a thread that doesn't run Async. *)

val post : (unit -> 'a Async.Deferred.t) -> 'a Concord.Promise.t
(** [post f] makes Async call [f ()] as a job in its main monitor, and returns a
    promise of the result. You can call [post] from any thread of any domain,
    and in Async too.

    If Async isn't running yet, [f] is called once it is. Async starts with
    {!go}, or once Async code has called a function of this module that returns
    a deferred. Between two calls of [Thread_safe.block_on_async] Async doesn't
    run, so a job waits for the next call. If Async never runs, the job waits
    forever.

    The promise fails with the first exception [f] raises or sends to its
    monitor. Later exceptions go to the main monitor.

    - {b Suspends} never.
    - {b Cancelled}. Only the task awaiting the promise is cancelled, and [f]
      continues.
    - {b Order}: as the calls.
    - {b Cost}: O(1). It needs a system call only if no cycle is on. *)

(** {2 Instead of dropping a deferred} *)

val determined : 'a Async.Deferred.t -> 'a Concord.Event.t
(** [determined deferred] is ready once [deferred] is determined, with its
    value.

    Use it in {!select}, together with operations. Either one operation is
    performed or the deferred is chosen. The others are withdrawn and leave
    nothing behind, neither in a structure nor in the deferred.

    {@ocaml skip[
    match%bind
      Concord_async.select
        [
          Concord.Event.wrap (Concord.Mailbox.take_evt box) Option.some;
          Concord.Event.wrap (Concord_async.determined stop) (fun () -> None);
        ]
    ]}

    - {b Order}. If both are ready, either may be chosen, as in
      [Deferred.choose].
    - {b Cost}: one [Deferred.choose].
    - {b Raises} [Invalid_argument] if it is performed in a thread that doesn't
      run Async. *)

(** Timeouts in seconds as a float. *)
module Clock : sig
  val timeout : Core.Time_float.Span.t -> unit Concord.Event.t
  (** {!Concord.Event.timeout}. *)

  val with_timeout :
    Core.Time_float.Span.t ->
    'a Concord.Event.t ->
    [ `Timeout | `Result of 'a ] Async.Deferred.t
  (** [with_timeout span event] performs [event] and returns [`Result v], or
      returns [`Timeout] if [span] passes first. After [`Timeout], [event] has
      not been performed, as for {!sync_before}. *)
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
(** [to_pipe event] is a pipe for the results of [event], for example of
    [Mailbox.take_evt mailbox], performed again and again.

    It respects the pipe's pushback, and is one item ahead of the reader. If
    [event] raises [Concord.Mailbox.Closed], the pipe is closed. If the reader
    closes the pipe, [event] is withdrawn. Items in the pipe by then, or taken
    just before, are lost, as with any pipe. *)

val feed :
  'a Concord.Stream.t -> 'a Async.Pipe.Reader.t -> unit Async.Deferred.t
(** [feed stream reader] adds the items of the pipe [reader] to [stream], and
    waits while [stream] is full.

    It closes [stream] when the pipe has ended. If another task closes [stream],
    [feed] closes the pipe. The item for which [stream] was closed is dropped
    with it. Don't read the pipe while [feed] runs. *)

(** {2 Direct style, choices and structures} *)

include Concord.Tools.Monadic.S with type 'a promise := 'a Async.Deferred.t
(** @inline *)
