(** Picos and Concord in one program, both ways.

    {b Stability}: experimental, may change in any release.

    {b Fibers of Picos} wait in Concord's structures, with tasks of any other
    host, once this library is linked: there is nothing to call, except for
    {!using} where a scheduler of Picos and one of others run inside one
    another. (For the linker to keep the library, its dune stanza asks for all
    of it; no [open] is needed.) These are fibers of whatever scheduler handles
    Picos's effects: those of [picos_mux], and pools of Moonpool.

    {b Tasks of other hosts} wait in the structures of [picos_std], and in any
    other that is written for Picos, inside of {!as_fiber}.

    Picos and Moonpool are not patched.

    {2:configure Configure Picos first}

    Where [picos_io] is installed, the schedulers of [picos_mux] use signals and
    have to be configured. The first scheduler does so if it runs in the main
    thread of the main domain. In any other thread or domain it raises
    [Invalid_argument] instead, and runs nothing. If a domain is ended by that,
    you see the exception only when you join it, so a task that waits for the
    domain's fibers waits forever. Therefore, call
    [Picos_io_select.configure ()] in the main thread before you start other
    threads or domains.

    This library can't do so for you, because the configuration handles
    [SIGCHLD], and blocks it in the main thread. Lwt, and Eio without io_uring,
    then wait forever for processes that they started. If your program starts
    such processes, call [Picos_io_select.configure ~handle_sigchld:false ()].

    {2 What holds for fibers of Picos}

    - {b Cancelled} when the fiber's computation is: the wait raises the
      exception of the computation, with its backtrace, and has taken nothing.
      Not where the fiber forbids it: {!Concord.Tasks.protect} is
      [Fiber.forbid].
    - {b Scopes} ({!Concord.Scope}, {!Concord.Tasks.both} and the like) start
      fibers, whose computation is the scope's. A fiber that forks has the new
      one begin before it goes on. What [Picos_std_structured] remembers for a
      fiber, the flock in which it is, is not passed on.
    - {b Order}: fibers that were resumed wait for their turn as the scheduler
      has it.
    - {b Cost} of a wait: that of Picos's own, and of asking for the fiber. In a
      program with several domains a fiber may look first, for up to a hundred
      turns, whether another domain resumes it: then nobody has to wake the
      scheduler, which takes a hundred times as long.

    What Picos itself does not promise, this library cannot:

    - A signal handler that raises while a scheduler of Picos puts a fiber into
      its queue loses that fiber. One that raises while the scheduler sleeps
      ends the scheduler's loop, with all fibers in it; in that of threads,
      which sleep in the fiber, the fiber is lost, with what it is given.
    - A pool of Moonpool that was shut down refuses the fibers that still wait:
      whoever resumes one of them gets Moonpool's [Shutdown] from the operation,
      and what the fiber was to have is lost. *)

open Picos

val using : (unit -> 'a) -> 'a
(** [using loop] is [loop ()], in which a scheduler of Picos runs on the calling
    thread. It says that this scheduler is the thread's innermost one, and is
    needed if a scheduler of Picos runs inside a task of another scheduler: in
    an Eio fiber, in a task of Domainslib, of Lwt or of [Concord_fifo]. Without
    it a fiber that waits suspends that task, and with it the scheduler of
    Picos. It is harmless elsewhere; users of [Domain_local_await] (Kcas, say)
    then wait in the fibers on this thread too.

    {@ocaml skip[
    Eio_main.run @@ fun _ ->
    Concord_picos.using @@ fun () -> Picos_mux_fifo.run main
    ]}

    The other way round, the loops of Eio, Domainslib and [Concord_fifo] need
    nothing inside a fiber of Picos; that of Lwt is run by [Concord_lwt.run].

    - {b Suspends} the calling task only as
      {!Concord.Tools.Host_kit.using_plugin}: the scheduler blocks the thread
      while it has nothing to do, as Picos's do. *)

val as_fiber : (unit -> 'a) -> 'a
(** [as_fiber f] is [f ()], in which the calling task, of whatever host, is a
    fiber of Picos: it handles Picos's effects. So a task of Eio or Domainslib,
    of [Concord_fifo], in [Lwt_direct], or a thread, can wait for fibers of
    Picos in Picos's structures, select Picos's events, and run flocks and
    bundles. In Concord's structures it waits as before.

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

    The first line is needed because the scheduler of Picos runs in another
    domain; see {!section-configure}.

    Fibers that [f] starts are tasks of one {!Concord.Scope}: the host's own,
    or, where the host does not say how it starts tasks, tasks of a
    [Concord_fifo] inside of this one. [as_fiber] returns when all of them have
    ended.

    - {b Suspends} where [f] does, and until those fibers have ended.
    - {b Cancelled}: if the host cancels the task while it waits, all these
      fibers are cancelled with [Control.Terminate], and [as_fiber] raises the
      host's exception. If a computation is cancelled, by [Bundle.terminate]
      say, then what its fibers wait for ends, also in Concord's structures.
      [Fiber.forbid] and {!Concord.Tasks.protect} defer both; in Eio if
      [concord-eio] is linked.
    - {b Cost}: that of a scope; for each wait, that of a suspension on the host
      and of {!Concord.Tools.Host_kit.using}.
    - {b Raises} [e] if [f] raised [e], or one of its fibers: the others are
      cancelled then.

    A scheduler that runs inside [f] has tasks of its own: they need an
    [as_fiber] of their own. Without one, Picos's effects are refused there, as
    they would suspend that scheduler as a whole. *)

(** {2 Promises}

    Computations are the promises of Picos, and the futures of Moonpool
    ([Moonpool.Fut.t]). *)

val of_computation : 'a Computation.t -> 'a Concord.Promise.t
(** [of_computation c] is a promise that is filled with what [c] returns, or
    fails with the exception and the backtrace with which [c] is cancelled.
    Tasks of any host can wait for it. Anyone may call it, and it does not
    suspend; O(1). As long as [c] is running it keeps the promise. *)

val to_computation : 'a Concord.Promise.t -> 'a Computation.t
(** [to_computation p] is a computation that returns the value of [p], or is
    cancelled with its failure. If it is cancelled before, that remains so, and
    does nothing to [p]. Anyone may call it, and it does not suspend; O(1). As
    long as [p] is not resolved it keeps the computation. *)
