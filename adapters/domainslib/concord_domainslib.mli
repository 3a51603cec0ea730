(** Jobs for a Domainslib pool, submitted from anywhere.

    {b Stability}: stable, but for {{!stop}jobs that can be told to stop}, which
    are experimental and may change in any release.

    [Domainslib.Task.async] must be called from a domain that the pool knows,
    and [Domainslib.Task.run] blocks its caller's whole domain. Instead, any Eio
    fiber, thread, domain or task may call {!submit}. It returns at once, with a
    promise that any task can wait for. (Section 3.5 of "Effectively Composing
    Concurrency Libraries".)

    {[
      # Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          let job = Concord_domainslib.submit pool (fun () -> 6 * 7) in
          Concord.Promise.await job)
      - : int = 42
    ]}

    Domainslib is not patched. Linking this library has no effect until you call
    one of its functions. Tasks of Domainslib's pools can wait in Concord's
    structures without it.

    See also {{!/concord/domainslib}Concord for those who know Domainslib}. *)

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
    Usually none is left then, and the pool is torn down.

    However, OCaml can't end a job that computes and never {{!check}checks}, nor
    a job that waits for something that only [f] would have done. The promises
    of such jobs, and of jobs that have not started, fail with {!Torn_down}, and
    [with_pool] returns. A job that computes keeps its domain until it ends.
    Then the thread of [with_pool] tears the pool down. With [~grace:infinity]
    no job is lost and no job outlives the call, however long that takes.

    [f] may also use [Domainslib.Task.run], [async] and so on, as long as it is
    on the domain that called [with_pool]. [with_pool] doesn't wait for a task
    of [async] that was not awaited.

    - {b Suspends} the calling task only, whatever its host. It suspends while
      the pool is set up, where [f] suspends, until the jobs have ended (up to
      twice [grace]), and while the pool is torn down. A thread of the calling
      domain does this work.
    - {b Cancelled}. [f] gets the host's exception where it waits. If the pool
      is still being set up, [f] isn't called. The end of [with_pool] is
      {{!Concord.Tasks.protect}protected}, so it still waits for the jobs. If a
      host cannot defer a cancellation (Eio without [concord-eio]), the
      exception is raised at once, and the thread waits for the jobs and tears
      the pool down.
    - {b Signals}. Code that runs in the pool has the caller's signal mask. If a
      handler raises in a domain of the pool that runs no job, it ends that
      domain, as in every pool of Domainslib. Then [with_pool] may wait forever.
      So use {!Concord.Signal.once}.
    - {b Cost}: a thread and [num_domains] domains, some milliseconds.
    - {b Raises} [e] if [f] raised [e].
    - {b Raises} [Invalid_argument] if [num_domains < 1], or if [grace] is
      negative or not a number.
    - {b Raises} [Sys_error] if the thread cannot be started. *)

val drain : Domainslib.Task.pool -> unit
(** [drain pool] waits until [pool] has no job that waits, runs or is suspended.

    It returns after a moment at which all jobs that had been submitted, by any
    function of this module, had ended. So it also waits for the jobs that other
    jobs submit. If a job of [pool] itself calls [drain], it waits forever.

    - {b Suspends} while there are such jobs.
    - {b Cancelled} while suspended, it raises the host's exception. The jobs
      continue.
    - {b Cost}: O(1). *)

val teardown : Domainslib.Task.pool -> unit
(** [teardown pool] is {!drain}, then [Domainslib.Task.teardown_pool], which
    blocks the calling thread until the pool's domains have ended.

    If other tasks submit jobs meanwhile, these fail with {!Torn_down}.

    - {b Suspends} like {!drain}.
    - {b Cancelled} like {!drain}. Then the pool is not torn down.
    - {b Raises} [Invalid_argument] if [pool] was torn down, or was attached by
      another domain. *)

exception Torn_down
(** The promise of a job fails with [Torn_down] if the job has not ended in one
    of two cases:

    - {!with_pool} returns.
    - [Domainslib.Task.teardown_pool] has torn the pool down. It doesn't wait
      for suspended jobs, nor for jobs that have not started.

    Such a job never continues. If it waits in a structure, it stays in the
    queue, and an item that it is given there is lost.

    In the second case the promise fails some milliseconds after
    [teardown_pool], because Domainslib doesn't report the end of a pool.
    Instead, the thread of the timeouts notices that the pool's domains end.
    From then on it checks whether the pool is torn down, at first after 1 ms,
    then ever more rarely. The promise fails at the latest after twice the time
    that the teardown has taken, or 1 s after it. *)

(** {1 Jobs} *)

exception Cancelled
(** The exception that a promise of {!submit_stoppable} fails with, and that
    {!check} raises. *)

val submit : Domainslib.Task.pool -> (unit -> 'a) -> 'a Concord.Promise.t
(** [submit pool f] runs [f] as a task of [pool].

    The promise is filled with its result, or fails with its exception and
    backtrace. [f] may use [Domainslib.Task.async], [await] and so on, and
    Concord's operations. One job waits for no other.

    {b Call {!attach} first} if your program also calls [Domainslib.Task.run],
    [async] or [teardown_pool] from outside the pool, from the domain that does.
    A pool has slots for its own domains and for {e one} more. If {!attach}
    hasn't given that slot to a domain, the first [submit] gives it to the
    calling domain. Without {!attach}, a later call from another domain fails an
    assertion of Domainslib's. While the pool is still starting, one of the
    pool's own domains fails it instead.

    {b The pool must have a domain of its own} ([num_domains >= 1]). In a pool
    without one, jobs run only while [Domainslib.Task.run] does, and only its
    tasks may submit.

    {b The end.} A job that waits or is suspended when the pool is torn down is
    lost, and its promise fails with {!Torn_down}. {!drain} and {!teardown} wait
    for all jobs, and {!with_pool} as long as you ask for.

    - {b Suspends} never.
    - {b Signals}. Once a pool is attached, or has got a job, the handler of a
      signal may call [submit], except on a domain of the pool.
    - {b Order}. Jobs from one domain are started in the order of submission.
    - {b Cost}: O(1). The first [submit] to a pool also starts a task there.
    - {b Raises} [Invalid_argument] if [pool] was torn down, or if its slot is
      taken by another domain and {!attach} was never called. So it does if
      [pool] has no domain of its own, and the caller is not in a task of a
      pool. *)

val run : Domainslib.Task.pool -> (unit -> 'a) -> 'a
(** [run pool f] runs [f] as a job of [pool], and returns its result.

    Unlike [Domainslib.Task.run], which works for the pool on the calling
    domain, it leaves the domain to the other tasks of the caller's host.

    {[
      # Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          Concord_domainslib.run pool (fun () -> 6 * 7))
      - : int = 42
    ]}

    - {b Suspends} until the job has ended.
    - {b Cancelled} while suspended, it raises the host's exception at once. If
      the job has not started, it never will. If it has, it runs to its end,
      because Domainslib cancels nothing, and its result is dropped (as by
      [Eio.Executor_pool.submit]). {!drain} waits for it. If the caller has to
      wait for the end of its job, use {!Concord.Tasks.protect}.
    - {b Order} is that of {!submit}.
    - {b Cost}: that of {!submit}, and one suspension.
    - {b Raises} [e] if [f] raised [e], with its backtrace.
    - {b Raises} [Invalid_argument] as {!submit}. *)

(** {1:stop Jobs that can be told to stop}

    OCaml can't end a computation from outside. So a job that may take long has
    a token, and checks now and then whether it should stop. *)

type token
(** A token tells a job to stop. You can pass it to everything that the job
    starts, for example to the body of [Domainslib.Task.parallel_for], or to
    tasks of [Domainslib.Task.async]. *)

val check : token -> unit
(** [check token] raises {!Cancelled} if the job was told to stop, and otherwise
    does nothing.

    It doesn't let other jobs run. If long jobs hold all domains of the pool, a
    job that would tell one of them to stop doesn't start either. If that can
    happen, call {!Concord.Tasks.yield} now and then as well.

    - {b Suspends} never, so you can call it anywhere.
    - {b Cost}: two reads. One [check] in 10 microseconds of computation has no
      measurable cost.
    - {b Raises} {!Cancelled} if the job was told to stop. *)

val is_stopped : token -> bool
(** [is_stopped token] is [true] if {!check} would raise. *)

val stopped_evt : token -> unit Concord.Event.t
(** [stopped_evt token] is an event that can be performed once the job is told
    to stop. Use it in jobs that wait, for example
    [Event.select [ Stream.take_evt jobs; ...; stopped_evt token ]]. *)

val submit_stoppable :
  Domainslib.Task.pool -> (token -> 'a) -> 'a Concord.Promise.t * (unit -> bool)
(** [submit_stoppable pool f] is {!submit}, with a function that cancels the
    job.

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

    - If the job has not started, the function returns [true]. The job never
      starts, and the promise fails with {!Cancelled}. This works for a job that
      never checks, too.
    - Otherwise the function returns [false]. A job that runs is told to stop,
      as it is at the end of {!with_pool}. The promise still gets the result or
      exception of the job. That is {!Cancelled} if {!check} ended the job.

    The function never suspends. It takes O(1), or O(n) if [n] tasks wait for
    {!stopped_evt}.

    - {b Raises} [Invalid_argument] as {!submit}. *)

val run_stoppable : Domainslib.Task.pool -> (token -> 'a) -> 'a
(** [run_stoppable pool f] runs [f token] as a job of [pool], and returns its
    result. The job is told to stop if the caller is cancelled or runs out of
    time.

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
    - {b Cancelled} while suspended. If the job has not started, it never will,
      and the host's exception is raised at once. Otherwise the job is told to
      stop, and [run_stoppable] waits until it has ended, so that no part of it
      continues. Then the host's exception is raised. However, if the job
      returned nevertheless, or raised another exception than {!Cancelled}, that
      is the result of [run_stoppable], and the host's exception is raised where
      the task waits next. A job that never checks keeps a cancelled caller
      waiting, so use {!run} for such a job. On Eio without [concord-eio] the
      host's exception is raised at once.
    - {b Order} and {b cost} are those of {!run}.
    - {b Raises} [e] if [f] raised [e], with its backtrace.
    - {b Raises} [Invalid_argument] as {!submit}. *)

(** {1 Many jobs as one} *)

val submit_all :
  Domainslib.Task.pool -> (unit -> 'a) list -> 'a list Concord.Promise.t
(** [submit_all pool fs] runs the functions as tasks of [pool], all at once. The
    promise is filled when all of them have ended, with the results in the order
    of [fs].

    {[
      # Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          let double n () = 2 * n in
          let jobs = List.map double [ 1; 2; 3 ] in
          Concord.Promise.await (Concord_domainslib.submit_all pool jobs))
      - : int list = [2; 4; 6]
    ]}

    If one of them raises, those that have not started never will. When the
    others have ended, the promise fails with the first exception, and its
    backtrace.

    - {b Order}. The functions are started in no particular order. All of them
      together are one job of {!submit}.
    - {b Cost}: O(1) now, and O(n) on the pool for [n] functions.
    - {b Raises} [Invalid_argument] as {!submit}. *)

val parallel_for :
  ?chunk_size:int ->
  Domainslib.Task.pool ->
  start:int ->
  finish:int ->
  (int -> unit) ->
  unit Concord.Promise.t
(** [parallel_for pool ~start ~finish body] is a job that calls [body start],
    [body (start + 1)], ..., [body finish] by [Domainslib.Task.parallel_for], in
    chunks of [chunk_size].

    The promise is resolved when all calls have ended.

    {[
      # Concord_domainslib.with_pool ~num_domains:1 (fun pool ->
          let squares = Array.make 5 0 in
          let square i = squares.(i) <- i * i in
          Concord.Promise.await
            (Concord_domainslib.parallel_for pool ~start:0 ~finish:4 square);
          squares)
      - : int array = [|0; 1; 4; 9; 16|]
    ]}

    If one call raises, no further call begins. When the calls in progress have
    ended, the promise fails with the first exception, and its backtrace.

    - {b Order} and {b cost} are those of {!submit_all}, for a chunk.
    - {b Raises} [Invalid_argument] as {!submit}. *)

(** {1 Pools that you did not make by [with_pool]} *)

val attach : Domainslib.Task.pool -> unit
(** [attach pool] makes [pool] ready for {!submit} from anywhere, and for fast
    calls of {!Concord.Tasks.yield} in its tasks.

    If the pool's slot for an outside domain is free, the calling domain takes
    it. A second call does nothing.

    - {b Suspends} never.
    - {b Raises} [Invalid_argument] if [pool] was torn down, or if another
      domain has the slot. *)

(** {2 Promises} *)

val of_task :
  Domainslib.Task.pool -> 'a Domainslib.Task.promise -> 'a Concord.Promise.t
(** [of_task pool task] is a promise of the result of [task], which is a task of
    [pool].

    Tasks of any host can wait for it, and you can call [of_task] anywhere. The
    promise fails with the exception of the task, and its backtrace. Only a task
    of the pool can wait for one of Domainslib's promises, so [of_task] is
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
(** [to_task pool t] is a task of [pool] that awaits [t], for [Task.await].

    It returns or raises like {!Concord.Promise.await}. Call it where you may
    call [Domainslib.Task.async]. (A task of a pool can also await [t] itself.)
*)
