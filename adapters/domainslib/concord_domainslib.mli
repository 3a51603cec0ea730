(** Work for an unmodified Domainslib pool, submitted from anywhere.

    {b Stability}: stable, but for {{!stop}jobs that can be told to stop}, which
    are experimental and may change in any release.

    [Domainslib.Task.async] must be called from a domain that the pool knows,
    and [Domainslib.Task.run] blocks its caller's whole domain. {!submit} may be
    called from any Eio fiber, thread, domain or task, returns at once, and
    gives a promise for which any task can wait. (Section 3.5 of "Effectively
    Composing Concurrency Libraries".)

    {[
      # Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          let job = Concord_domainslib.submit pool (fun () -> 6 * 7) in
          Concord.Promise.await job)
      - : int = 42
    ]}

    Linking this library has no effect until you call one of its functions.
    Tasks of Domainslib's pools wait in Concord's structures without it. *)

(** {1 Pools} *)

val with_pool :
  ?name:string ->
  ?grace:float ->
  num_domains:int ->
  (Domainslib.Task.pool -> 'a) ->
  'a
(** [with_pool ~num_domains f] is [f pool], where [pool] has [num_domains]
    domains. The pool is {{!attach}attached}, so that any task, thread or domain
    may submit jobs.

    {b The end.} When [f] has returned or raised, [with_pool] waits up to
    [grace] seconds (by default 10) for all jobs, as {!drain} does. If there are
    jobs left, they are {{!stop}told to stop}, and have [grace] seconds again.
    Usually none is left then, and the pool is torn down. But OCaml can't end a
    job that computes and never {{!check}checks}, nor one that waits for what
    only [f] would have done. The promises of such jobs fail with {!Torn_down},
    also those that have not started, and [with_pool] returns. A job that
    computes keeps its domain until it ends; the thread of [with_pool] tears the
    pool down then. With [~grace:infinity] no job is lost and none outlives the
    call, however long that takes.

    [f] may also use [Domainslib.Task.run], [async] and so on, as long as it is
    on the domain that called [with_pool]; a task of [async] that is not awaited
    is not waited for.

    - {b Suspends} the calling task only, whatever its host: while the pool is
      set up, where [f] does, until the jobs have ended (up to twice [grace]),
      and while the pool is torn down. A thread of the calling domain does this
      work.
    - {b Cancelled}: [f] gets the host's exception where it waits. If the pool
      is still being set up, [f] isn't called. The end of [with_pool] is
      {{!Concord.Tasks.protect}protected}: it still waits for the jobs. Where a
      host cannot defer a cancellation (Eio without [concord-eio]) the exception
      is raised at once, and the thread waits for the jobs and tears the pool
      down.
    - {b Signals}: what runs in the pool has the caller's signal mask. If a
      handler raises in the caller, then [with_pool] raises that, after it has
      waited for the jobs (but for a second one that raises while it does). The
      thread runs no handlers. A handler that raises in a job makes it fail; in
      a domain of the pool that runs no job it ends the domain, as in every pool
      of Domainslib, and [with_pool] may wait for ever. So it may if a handler
      raises in {!submit} while that wakes the pool: what Domainslib does there
      cannot be interrupted.
    - {b Cost}: a thread and [num_domains] domains, some milliseconds.
    - {b Raises} [e] if [f] raised [e].
    - {b Raises} [Invalid_argument] if [num_domains < 1], or if [grace] is
      negative or not a number.
    - {b Raises} [Sys_error] if the thread cannot be started. *)

val drain : Domainslib.Task.pool -> unit
(** [drain pool] waits until no job of [pool] waits, runs or is suspended: it
    returns after a moment at which all jobs that had been submitted, by
    whatever function of this module, had ended. A job that submits another one
    has not ended before. In a job of [pool] itself, [drain] waits for ever.

    - {b Suspends} while there are such jobs.
    - {b Cancelled} while suspended: raises the host's exception; the jobs go
      on.
    - {b Cost}: O(1). *)

val teardown : Domainslib.Task.pool -> unit
(** [teardown pool] is {!drain}, then [Domainslib.Task.teardown_pool], which
    blocks the calling thread until the pool's domains have ended. Jobs that
    others submit meanwhile fail with {!Torn_down}.

    - {b Suspends}, {b Cancelled}: as {!drain}; the pool is not torn down then.
    - {b Raises} [Invalid_argument] if [pool] was torn down, or was attached by
      another domain. *)

exception Torn_down
(** What the promise of a job fails with if the job has not ended when
    {!with_pool} returns, or when the pool has been torn down by
    [Domainslib.Task.teardown_pool], which waits for no job that is suspended,
    nor for those that have not started. Such a job never goes on; where it
    waits in a structure it stays in the queue, and what it is given there is
    lost.

    In the second case the promise fails some milliseconds after
    [teardown_pool]: Domainslib tells nobody, but its domains end, and from then
    on the thread of the timeouts looks, at first after 1 ms, then ever more
    rarely, until the pool is torn down (at the latest, it fails after twice the
    time that this has taken, or 1 s after it). *)

(** {1 Jobs} *)

exception Cancelled
(** What a promise of {!submit_stoppable} fails with, and what {!check} raises.
*)

val submit : Domainslib.Task.pool -> (unit -> 'a) -> 'a Concord.Promise.t
(** [submit pool f] runs [f] as a task of [pool]. The promise is filled with its
    result, or fails with the exception that it raised and its backtrace. [f]
    may use [Domainslib.Task.async], [await] and so on, and Concord's
    operations.

    A pool has places for its own domains and for {e one} more. The first
    [submit] to a pool takes that place for the calling domain, unless {!attach}
    did so before. A program that also calls [Domainslib.Task.run], [async] or
    [teardown_pool] from outside the pool must call {!attach} first, from the
    domain that does: otherwise that call fails an assertion of Domainslib's;
    or, while the pool is still starting, one of its own domains does.

    A job that waits or is suspended when the pool is torn down is lost: its
    promise fails with {!Torn_down}. {!drain} and {!teardown} wait for all jobs,
    and {!with_pool} as long as it is asked to.

    Once a pool is attached, or has got a job, a signal handler may call
    [submit], except on a domain of the pool. An exception that a signal handler
    raises in [submit] loses no job that was submitted before.

    The pool must have at least one domain of its own ([num_domains >= 1]): in a
    pool without one, jobs run only while [Domainslib.Task.run] does, and only
    its tasks may submit. One job waits for no other.

    - {b Order}: jobs are started in the order of submission from one domain.
    - {b Cost}: O(1); the first [submit] to a pool also starts a task there.
    - {b Raises} [Invalid_argument] if [pool] was torn down; if its place is
      taken by another domain and {!attach} was never called; or if [pool] has
      no domain of its own, and the caller is in no task of a pool. *)

val run : Domainslib.Task.pool -> (unit -> 'a) -> 'a
(** [run pool f] is the result of [f ()], a job of [pool]. [Domainslib.Task.run]
    works for the pool on the calling domain; this leaves the domain to the
    other tasks of the caller's host.

    {[
      # Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          Concord_domainslib.run pool (fun () -> 6 * 7))
      - : int = 42
    ]}

    - {b Suspends} until the job has ended.
    - {b Cancelled} while suspended: raises the host's exception at once. If the
      job has not started, it never will. If it has, it runs to its end, since
      Domainslib cancels nothing, and its result is dropped (as by
      [Eio.Executor_pool.submit]); {!drain} waits for it. For a caller that has
      to wait for the end of its job, there is {!Concord.Tasks.protect}.
    - {b Order}, {b Cost}: as {!submit}; one suspension.
    - {b Raises} [e] if [f] raised [e], with its backtrace.
    - {b Raises} [Invalid_argument] as {!submit}. *)

(** {1:stop Jobs that can be told to stop}

    Nobody can end a computation from outside. So a job that may take long has a
    token, and checks now and then whether it should stop. *)

type token
(** Tells a job to stop. Everything that the job starts can have it as well: the
    body of [Domainslib.Task.parallel_for], tasks of [Domainslib.Task.async]. *)

val check : token -> unit
(** [check token] does nothing until the job is told to stop. It doesn't let
    other jobs run. If long jobs hold all domains of the pool, a job that would
    tell one of them to stop doesn't start either. Where that can happen, call
    {!Concord.Tasks.yield} now and then as well.

    - {b Suspends} never; call it anywhere.
    - {b Cost}: two reads. Once in 10 microseconds of computation costs nothing
      that can be measured.

    @raise Cancelled if the job was told to stop. *)

val is_stopped : token -> bool
(** Would {!check} raise? *)

val stopped_evt : token -> unit Concord.Event.t
(** An event that can be performed once the job is told to stop, for jobs that
    wait: [Event.select [ Stream.take_evt jobs; ...; stopped_evt token ]]. *)

val submit_stoppable :
  Domainslib.Task.pool -> (token -> 'a) -> 'a Concord.Promise.t * (unit -> bool)
(** As {!submit}, with a function that cancels the job. If the job has not
    started, it never will, the promise fails with {!Cancelled}, and the result
    is [true]. Otherwise the result is [false], and a job that runs is told to
    stop, as it is at the end of {!with_pool}. The promise gets what the job
    gives, or raises, in spite of that: {!Cancelled} if it was {!check} that
    ended it. The function never suspends; O(1), and O(n) if [n] tasks wait for
    {!stopped_evt}. A job that never checks is withdrawn in the same way, if it
    has not started:

    {[
      # Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          let answer, cancel =
            Concord_domainslib.submit_stoppable pool (fun _ -> 6 * 7)
          in
          let withdrawn = cancel () in
          match Concord.Promise.await answer with
          | v -> (not withdrawn) && v = 42
          | exception Concord_domainslib.Cancelled -> withdrawn)
      - : bool = true
    ]}

    - {b Raises} [Invalid_argument] as {!submit}. *)

val run_stoppable : Domainslib.Task.pool -> (token -> 'a) -> 'a
(** [run_stoppable pool f] is the result of [f token], a job of [pool] that is
    told to stop if the caller is cancelled or runs out of time.

    {[
      # Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          let rec search token n =
            Concord_domainslib.check token;
            if n < 0 then n else search token (n + 1)
          in
          Concord.Tasks.with_timeout 0.001 (fun () ->
              Concord_domainslib.run_stoppable pool (fun token ->
                  search token 0)))
      - : int option = None
    ]}

    - {b Suspends} until the job has ended.
    - {b Cancelled} while suspended: if the job has not started, it never will,
      and the host's exception is raised at once. Otherwise the job is told to
      stop, and [run_stoppable] waits until it has ended, so that nothing of it
      goes on. Then the host's exception is raised. However, if the job returned
      nevertheless, or raised another exception than {!Cancelled}, then that is
      the result of [run_stoppable], and the host's exception is raised where
      the task waits next. (An exception of a signal handler, in a thread, is
      raised in any case.) A job that never checks keeps a cancelled caller
      waiting: for such a job there is {!run}. On Eio without [concord-eio] the
      host's exception is raised at once.
    - {b Order}, {b Cost}: as {!run}.
    - {b Raises} [e] if [f] raised [e], with its backtrace.
    - {b Raises} [Invalid_argument] as {!submit}. *)

(** {1 Many jobs as one} *)

val submit_all :
  Domainslib.Task.pool -> (unit -> 'a) list -> 'a list Concord.Promise.t
(** [submit_all pool fs] runs the functions as tasks of [pool], at once. The
    promise is resolved when all of them have ended: with the results, in the
    order of [fs].

    If one raises, those that have not started never will, and the promise fails
    with the first exception, and its backtrace, when the others have ended.

    - {b Order}: the functions are started in no particular order; all of them
      together are one job of {!submit}.
    - {b Cost}: O(1) now; for [n] functions, O(n) on the pool.

    {[
      # Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          let double n () = 2 * n in
          let jobs = List.map double [ 1; 2; 3 ] in
          Concord.Promise.await (Concord_domainslib.submit_all pool jobs))
      - : int list = [2; 4; 6]
    ]}
    - {b Raises} [Invalid_argument] as {!submit}. *)

val parallel_for :
  ?chunk_size:int ->
  Domainslib.Task.pool ->
  start:int ->
  finish:int ->
  (int -> unit) ->
  unit Concord.Promise.t
(** [parallel_for pool ~start ~finish body] is a job that calls [body start],
    [body (start + 1)], ..., [body finish] by [Domainslib.Task.parallel_for],
    and so in chunks of [chunk_size]. The promise is resolved when all calls
    have ended.

    If one raises, no further call is begun, and the promise fails with the
    first exception, and its backtrace, when those in progress have ended.

    - {b Order}, {b Cost}: as {!submit_all}, for a chunk.

    {[
      # Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          let squares = Array.make 5 0 in
          let square i = squares.(i) <- i * i in
          Concord.Promise.await
            (Concord_domainslib.parallel_for pool ~start:0 ~finish:4 square);
          squares)
      - : int array = [|0; 1; 4; 9; 16|]
    ]}
    - {b Raises} [Invalid_argument] as {!submit}. *)

(** {1 Pools that others made} *)

val attach : Domainslib.Task.pool -> unit
(** [attach pool] makes [pool] ready for {!submit} from anywhere, and for fast
    calls of {!Concord.Tasks.yield} in its tasks, and takes the pool's place for
    an outside domain, if that is free, for the calling domain. Calling it again
    does nothing. It does not suspend.

    - {b Raises} [Invalid_argument] if [pool] was torn down, or if another
      domain has the place. *)

(** {2 Promises} *)

val of_task :
  Domainslib.Task.pool -> 'a Domainslib.Task.promise -> 'a Concord.Promise.t
(** [of_task pool task] is a promise of the result of [task], which is one of
    [pool]: tasks of any host can wait for it, and it can be called anywhere. It
    fails with the exception that the task raised, with its backtrace. Only a
    task of the pool can wait for one of Domainslib's promises: so this is
    {!submit} of such a wait.

    {[
      # let pool = Domainslib.Task.setup_pool ~num_domains:1 () in
        let task = Domainslib.Task.async pool (fun () -> 6 * 7) in
        let v = Concord.Promise.await (Concord_domainslib.of_task pool task) in
        Domainslib.Task.teardown_pool pool;
        v
      - : int = 42
    ]} *)

val to_task :
  Domainslib.Task.pool -> 'a Concord.Promise.t -> 'a Domainslib.Task.promise
(** [to_task pool t] is a task of [pool] that awaits [t], for [Task.await]: it
    returns or raises as {!Concord.Promise.await}. To be called where
    [Domainslib.Task.async] may be. (A task of a pool can also await [t]
    itself.) *)
