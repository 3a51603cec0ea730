(** Picos and Concord in one program, both ways.

    {b Stability}: experimental, because Picos and Moonpool themselves are at
    version 0.

    {b Picos fibers} can wait in Concord's structures, with tasks of any other
    host, once this library is linked. Add [concord-picos] to [libraries] in
    your dune file. You don't need to open or call anything, because the linker
    keeps all of the library. The exception is {!using}, for programs running a
    Picos scheduler inside another scheduler, or the reverse. Fibers of every
    scheduler that handles Picos's effects can wait, for example [picos_mux]
    fibers and Moonpool pools.

    {@ocaml[
    let box = Concord.Mvar.create_empty ()
    let put () = Concord.Mvar.put box "another scheduler"

    let () =
      let domain = Domain.spawn (fun () -> Concord_fifo.run put) in
      print_endline (Picos_mux_fifo.run (fun () -> Concord.Mvar.take box));
      Domain.join domain
    ]}

    {b Tasks of other hosts} can wait in the structures of [picos_std], and in
    any other structure written for Picos, inside {!as_fiber}.

    Picos and Moonpool are not patched. See also
    {{!/concord/picos}Concord for those who know Picos}.

    {2:configure Configure Picos first}

    If [picos_io] is installed, the schedulers of [picos_mux] use signals and
    have to be configured. The first scheduler does so if it runs in the main
    thread of the main domain. In any other thread or domain it raises
    [Invalid_argument] instead, and runs nothing. If this ends a domain, you see
    the exception only when you join the domain, and a task waiting for the
    domain's fibers waits forever. Therefore, call
    [Picos_io_select.configure ()] in the main thread before you start other
    threads or domains.

    This library can't do so for you, because the configuration handles
    [SIGCHLD], and blocks it in the main thread. Lwt, and Eio without io_uring,
    then wait forever for processes they started. If your program starts such
    processes, call [Picos_io_select.configure ~handle_sigchld:false ()].

    {2 Rules for fibers of Picos}

    - {b Cancelled} with its computation, the fiber's wait raises the exception
      of the computation, with its backtrace, and has taken nothing. If the
      fiber forbids cancellation, the wait isn't cancelled.
      {!Concord.Tasks.protect} is [Fiber.forbid].
    - {b Scopes} ({!Concord.Scope}, {!Concord.Tasks.both} and the like) start
      fibers, whose computation is the scope's. If a fiber forks, the new fiber
      begins before the forking fiber continues. The new fiber doesn't inherit
      its parent's flock of [Picos_std_structured].
    - {b Order}. The Picos scheduler decides when a resumed fiber runs.
    - {b Cost}: a wait of Picos's own, and a question for the fiber. In a
      program with several domains a fiber may first spin, for up to a hundred
      turns. If another domain resumes it meanwhile, the scheduler need not be
      woken, which takes a hundred times as long.

    {2 Limits}

    Picos itself does not promise the following, so this library cannot.

    - If a signal handler raises while a Picos scheduler puts a fiber into its
      queue, the fiber is lost. If it raises while the scheduler sleeps, it ends
      the scheduler's loop, with all fibers in it. In the scheduler of threads,
      which sleep in the fiber, the fiber is lost with its item.
    - If a Moonpool pool was shut down, it refuses fibers that still wait. A
      task resuming one of them gets Moonpool's [Shutdown] from the operation,
      and the item for the fiber is lost. *)

open Picos

(** {2 Schedulers and fibers} *)

val using : (unit -> 'a) -> 'a
(** [using loop] is [loop ()], in which a Picos scheduler runs on the calling
    thread.

    It tells Concord that this scheduler is the thread's innermost one. You need
    it if a Picos scheduler runs inside a task of another scheduler. This may be
    an Eio fiber, or a Domainslib, Lwt or [Concord_fifo] task.

    {@ocaml skip[
    Eio_main.run @@ fun _ ->
    Concord_picos.using @@ fun () -> Picos_mux_fifo.run main
    ]}

    Without it, a waiting fiber suspends the whole task, and with it the Picos
    scheduler. Elsewhere [using] is harmless, and lets users of
    [Domain_local_await] (Kcas, for example) wait in the fibers on this thread
    too.

    The other way round, the loops of Eio, Domainslib and [Concord_fifo] need
    nothing inside a Picos fiber. Run Lwt's loop by [Concord_lwt.run] there.

    - {b Suspends} the calling task only as
      {!Concord.Tools.Host_kit.using_plugin}. The scheduler blocks the thread
      while it has nothing to do, as Picos's schedulers do. *)

val as_fiber : (unit -> 'a) -> 'a
(** [as_fiber f] is [f ()], in which the calling task, of whatever host, is a
    Picos fiber, because [as_fiber] handles Picos's effects.

    A thread, or an Eio, Domainslib, [Concord_fifo] or [Lwt_direct] task, can
    therefore wait for Picos fibers in Picos's structures. It can also select
    Picos's events, and run flocks and bundles. In Concord's structures it waits
    as before.

    {@ocaml skip[
    let answer = Picos_std_sync.Ivar.create ()
    let fill () = Picos_std_sync.Ivar.fill answer "an answer"

    let () =
      Picos_io_select.configure ();
      let domain = Domain.spawn (fun () -> Picos_mux_fifo.run fill) in
      Eio_main.run (fun _ ->
          Concord_picos.as_fiber (fun () ->
              print_endline (Picos_std_sync.Ivar.read answer)));
      Domain.join domain
    ]}

    The first line is needed because the Picos scheduler runs in another domain
    (see {!section-configure}).

    Fibers started by [f] are tasks of one {!Concord.Scope}, and [as_fiber]
    returns when all of them have ended. The scope is the host's own. If the
    host doesn't offer scopes, the fibers are tasks of a [Concord_fifo] inside
    this task.

    - {b Suspends} where [f] suspends, and until those fibers have ended.
    - {b Cancelled} by the host while it waits, it cancels all these fibers with
      [Control.Terminate], and raises the host's exception. If a computation is
      cancelled, for example by [Bundle.terminate], the waits of its fibers end,
      in Concord's structures too. [Fiber.forbid] and {!Concord.Tasks.protect}
      defer both, in Eio only if [concord-eio] is linked.
    - {b Cost}: a scope. Each wait costs a suspension on the host and a
      {!Concord.Tools.Host_kit.using}.
    - {b Raises} [e] if [f] or one of its fibers raised [e]. Then the others are
      cancelled.

    If a scheduler runs inside [f], its tasks need an [as_fiber] of their own.
    Without one, Picos's effects are refused there, because they would suspend
    the scheduler as a whole. *)

(** {2 Promises}

    Computations are Picos's promises, and Moonpool's futures
    ([Moonpool.Fut.t]). *)

val of_computation : 'a Computation.t -> 'a Concord.Promise.t
(** [of_computation c] is a promise, filled with the value of [c].

    If [c] is cancelled, the promise fails with the same exception and
    backtrace. Tasks of any host can wait for it.

    - {b Suspends} never, so you can call it anywhere.
    - {b Cost}: O(1). As long as [c] is running it keeps the promise alive. *)

val to_computation : 'a Concord.Promise.t -> 'a Computation.t
(** [to_computation p] is a computation, which returns the value of [p], or is
    cancelled with its failure. If you cancel the computation before then, it
    remains cancelled, and [p] is not affected.

    - {b Suspends} never, so you can call it anywhere.
    - {b Cost}: O(1). As long as [p] is not resolved it keeps the computation
      alive. *)
