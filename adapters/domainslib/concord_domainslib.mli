(** Jobs for a Domainslib pool, submitted from anywhere.

    {b Stability}: stable.

    [Domainslib.Task.async] must be called from a domain the pool knows, and
    [Domainslib.Task.run] blocks its caller's whole domain. Instead, any Eio
    fiber, thread, domain or task may call {!submit}. It returns at once, with a
    promise for any task to wait for. (Section 3.5 of "Effectively Composing
    Concurrency Libraries".)

    {[
      # let pool = Domainslib.Task.setup_pool ~num_domains:1 ()
      val pool : Domainslib.Task.pool = <abstr>
      # Concord_domainslib.attach pool
      - : unit = ()
      # let job = Concord_domainslib.submit pool (fun () -> 6 * 7) in
        Concord.Promise.await job
      - : int = 42
    ]}

    The examples below use this pool.

    Domainslib is not patched. Linking this library has no effect until you call
    one of its functions. Domainslib's own pool tasks can wait in Concord's
    structures without it.

    If you need a pool only to compute in other domains, or jobs you can tell to
    stop, use {!Concord.Workers}. They also end their domains for you.

    See also {{!/concord/domainslib}Concord for those who know Domainslib}. *)

(** {1 Pools} *)

val attach : ?name:string -> Domainslib.Task.pool -> unit
(** [attach pool] makes [pool] ready for {!submit} from anywhere, and for fast
    calls of {!Concord.Tasks.yield} in its tasks. Reports show its [name].

    If the pool's slot for an outside domain is free, the calling domain takes
    it. A second call does nothing.

    - {b Suspends} never.
    - {b Raises} [Invalid_argument] if [pool] was torn down, or if another
      domain has the slot. *)

val drain : Domainslib.Task.pool -> unit
(** [drain pool] waits until [pool] has no waiting, running or suspended job.

    It returns after a moment at which all submitted jobs, from any function of
    this module, had ended. It therefore also waits for jobs submitted by other
    jobs. If a job of [pool] itself calls [drain], it waits forever.

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
(** The promise of a job fails with [Torn_down] if
    [Domainslib.Task.teardown_pool] has torn the pool down before the job has
    ended. That function doesn't wait for suspended jobs, nor for jobs that
    haven't started.

    Such a job never continues. If it waits in a structure, it stays in the
    queue, and an item given to it there is lost.

    The promise fails some milliseconds after [teardown_pool], because
    Domainslib doesn't report the end of a pool. Instead, the thread of the
    timeouts notices the end of the pool's domains. From then on it checks
    whether the pool is torn down, at first after 1 ms, then ever more rarely.
    The promise fails at the latest after twice the time the teardown has taken,
    or 1 s after it. *)

(** {1 Jobs} *)

val submit : Domainslib.Task.pool -> (unit -> 'a) -> 'a Concord.Promise.t
(** [submit pool f] runs [f] as a task of [pool].

    The promise is filled with its result, or fails with its exception and
    backtrace. [f] may use [Domainslib.Task.async], [await] and so on, and
    Concord's operations. One job waits for no other.

    {b Call {!attach} first} if your program also calls [Domainslib.Task.run],
    [async] or [teardown_pool] from outside the pool, and call it in the same
    domain. A pool has slots for its own domains and for {e one} more. If
    {!attach} hasn't given this slot to a domain, the first [submit] gives it to
    the calling domain. Without {!attach}, a later call from another domain
    fails one of Domainslib's assertions. While the pool is still starting, one
    of the pool's own domains fails it instead.

    {b The pool must have a domain of its own} ([num_domains >= 1]). In a pool
    without one, jobs run only while [Domainslib.Task.run] does, and only its
    tasks may submit.

    {b The end.} A job waiting or suspended when the pool is torn down is lost,
    and its promise fails with {!Torn_down}. {!drain} and {!teardown} wait for
    all jobs.

    - {b Suspends} never.
    - {b Signals}. Once a pool is attached, or has got a job, a signal handler
      may call [submit], except on a domain of the pool.
    - {b Order}. Jobs from one domain are started in the order of submission.
    - {b Cost}: O(1). The first [submit] to a pool also starts a task there.
    - {b Raises} [Invalid_argument] if [pool] was torn down, or if its slot is
      taken by another domain and {!attach} was never called. It does the same
      if [pool] has no domain of its own, and the caller isn't in a pool task.
*)

val run : Domainslib.Task.pool -> (unit -> 'a) -> 'a
(** [run pool f] runs [f] as a job of [pool], and returns its result.

    Unlike [Domainslib.Task.run], which works for the pool on the calling
    domain, it leaves the domain to the other tasks of the caller's host.

    {[
      # Concord_domainslib.run pool (fun () -> 6 * 7)
      - : int = 42
    ]}

    - {b Suspends} until the job has ended.
    - {b Cancelled} while suspended, it raises the host's exception at once. If
      the job has not started, it never will. If it has, it runs to its end,
      because Domainslib cancels nothing, and its result is dropped (as by
      [Eio.Executor_pool.submit]). {!drain} waits for it. If the caller has to
      wait for the end of its job, use {!Concord.Tasks.protect}.
    - {b Order}: as {!submit}.
    - {b Cost}: a {!submit}, and one suspension.
    - {b Raises} [e] if [f] raised [e], with its backtrace.
    - {b Raises} [Invalid_argument] as {!submit}. *)

(** {1 Many jobs as one} *)

val submit_all :
  Domainslib.Task.pool -> (unit -> 'a) list -> 'a list Concord.Promise.t
(** [submit_all pool fs] runs the functions as tasks of [pool], all at once. The
    promise is filled when all of them have ended, with the results in the order
    of [fs].

    {[
      # let double n () = 2 * n in
        let jobs = List.map double [ 1; 2; 3 ] in
        Concord.Promise.await (Concord_domainslib.submit_all pool jobs)
      - : int list = [2; 4; 6]
    ]}

    If one of them raises, those that haven't started never will. When the
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
    [body (start + 1)], ..., [body finish] with [Domainslib.Task.parallel_for],
    in chunks of [chunk_size].

    The promise is resolved when all calls have ended.

    {[
      # let squares = Array.make 5 0 in
        let square i = squares.(i) <- i * i in
        Concord.Promise.await
          (Concord_domainslib.parallel_for pool ~start:0 ~finish:4 square);
        squares
      - : int array = [|0; 1; 4; 9; 16|]
    ]}

    If one call raises, no further call begins. When the calls in progress have
    ended, the promise fails with the first exception, and its backtrace.

    - {b Order} and {b cost} are those of {!submit_all}, for a chunk.
    - {b Raises} [Invalid_argument] as {!submit}. *)

(** {1 Promises} *)

val of_task :
  Domainslib.Task.pool -> 'a Domainslib.Task.promise -> 'a Concord.Promise.t
(** [of_task pool task] is a promise of the result of [task], which is a task of
    [pool].

    Tasks of any host can wait for it, and you can call [of_task] anywhere. The
    promise fails with the exception of the task, and its backtrace. Only a pool
    task can wait for a Domainslib promise, so [of_task] is {!submit} of such a
    wait.

    {[
      # let task = Domainslib.Task.async pool (fun () -> 6 * 7) in
        Concord.Promise.await (Concord_domainslib.of_task pool task)
      - : int = 42
    ]} *)

val to_task :
  Domainslib.Task.pool -> 'a Concord.Promise.t -> 'a Domainslib.Task.promise
(** [to_task pool t] is a [pool] task awaiting [t], for [Task.await].

    It returns or raises like {!Concord.Promise.await}. Call it where you may
    call [Domainslib.Task.async]. (A pool task can also await [t] itself.)

    {[
      # let t = Concord.Promise.of_value 42 in
        Domainslib.Task.run pool (fun () ->
            Domainslib.Task.await pool (Concord_domainslib.to_task pool t))
      - : int = 42
      # Concord_domainslib.teardown pool
      - : unit = ()
    ]} *)
