(** Domains to compute for tasks of every host.

    {b Stability}: experimental, because who is woken, and how workers share the
    cores, is measured on few machines so far.

    If an Eio or Lwt task computes for long, the other tasks of its loop wait.
    Instead, let it give the computation to workers, as a {e job}. Only the task
    waits then, and its loop continues.

    {[
      # Workers.with_workers ~domains:1 (fun workers ->
          Workers.run workers (fun () -> 6 * 7))
      - : int = 42
    ]}

    Jobs begin in the order of their submission, each on the first free worker.
    A job may wait in every structure, and for other jobs of the same workers,
    because its worker runs other jobs meanwhile. Any worker continues it, so
    after a wait a job may be on another domain.

    A call that blocks the thread keeps its worker, so use {!Promise.in_thread}
    for such calls. If your computation divides itself into many small parts
    that wait for each other, use a Domainslib pool, which is much faster for
    such parts. {{!/concord/domainslib}Its page} compares the two.

    Idle workers sleep. Workers block all signals, so a signal handler never
    interrupts a job. A process started by a job inherits this. *)

type t
(** Workers of one call of {!with_workers}. *)

val with_workers :
  ?name:string -> ?domains:int -> ?grace:float -> (t -> 'a) -> 'a
(** [with_workers f] is [f workers], where [workers] are [domains] new domains.
    By default there is one worker for each core except one, but at least one.
    Reports show their [name].

    {b The end.} When [f] has returned or raised, [with_workers] waits up to
    [grace] seconds (by default 10) for all jobs. These may submit other jobs.
    If there are jobs left, they are {{!stop}told to stop}, and have [grace]
    seconds again. Jobs that haven't begun fail with {!Cancelled}. Usually no
    job is left then, and the domains end.

    However, OCaml can't end a job that computes and never {!check}s. The
    promise of such a job fails with {!Lost}, and [with_workers] returns. The
    job continues, and its domain ends after it, or when the program exits. With
    [~grace:infinity] no job is lost and no job outlives the call, however long
    this takes.

    OCaml ends a domain only after all of its threads. If a job has started a
    thread, for example with {!Promise.in_thread}, [with_workers] waits up to
    [grace] seconds for the thread as well, and then returns.

    - {b Suspends} the calling task only, while the domains start, where [f]
      does, and until the jobs have ended. A thread of the calling domain starts
      the domains and waits for their end.
    - {b Cancelled}. [f] gets the host's exception where it waits. The end of
      [with_workers] is {{!Concord.Tasks.protect}protected}, so it still waits
      for the jobs.
    - {b Cost}: a thread and [domains] domains, some milliseconds.
    - {b Raises} [e] if [f] raised [e].
    - {b Raises} [Invalid_argument] if [domains < 1], or if [grace] is negative
      or not a number.
    - {b Raises} [Failure] if a domain can't be started, and [Sys_error] if the
      thread can't. *)

exception Lost
(** The promise of a job fails with [Lost] if {!with_workers} returns before the
    job has ended, or has returned before the job was submitted. *)

exception Cancelled
(** The exception of a job that was withdrawn, or told to stop. *)

(** {1 Jobs} *)

val run : t -> (unit -> 'a) -> 'a
(** [run t f] runs [f] as a job, and returns its result.

    - {b Suspends} until the job has ended.
    - {b Cancelled} while suspended, it raises the host's exception at once. If
      the job has not begun, it never will. Otherwise it runs to its end, and
      its result is dropped. If the caller has to wait for its end, use
      {!run_stoppable}.
    - {b Order}: jobs begin in the order of their submission.
    - {b Cost}: a {!submit}, and a suspension.
    - {b Raises} [e] if [f] raised [e], with its backtrace.
    - {b Raises} {!Lost} or {!Cancelled} at the end of the workers. *)

val submit : t -> (unit -> 'a) -> 'a Promise.t
(** [submit t f] runs [f] as a job, and returns a promise of its result. The
    promise fails if [f] raises, with its exception and backtrace.

    It never suspends, so any task, thread or domain may call it, and so may a
    signal handler. The number of jobs has no limit. If callers should wait
    while there are too many, put a {!Semaphore} or a {!Work_queue} before
    [submit].

    - {b Order}: as {!run}.
    - {b Cost}: O(1), about a microsecond, and a few more if a worker has to be
      woken. *)

(** {1:stop Jobs that can be told to stop}

    OCaml can't end a computation from outside. A waiting job gets {!Cancelled}
    when it is told to stop, where it waits, and in its later waits outside of
    {!Tasks.protect}. A computing job has a token, and has to check it now and
    then. *)

type token
(** The token of one job. You can pass it to other domains and threads. *)

val check : token -> unit
(** [check token] raises {!Cancelled} if the job was told to stop.

    - {b Cost}: one read, so you can call it in each turn of a loop. *)

val is_stopped : token -> bool
(** [is_stopped token] is [true] if {!check} would raise. *)

val run_stoppable : t -> (token -> 'a) -> 'a
(** [run_stoppable t f] runs [f token] as a job, and returns its result. If the
    caller is cancelled, the job is told to stop.

    {[
      # Workers.with_workers ~domains:1 (fun workers ->
          let rec search token n =
            Workers.check token;
            if n < 0 then n else search token (n + 1)
          in
          Tasks.with_timeout 0.001 (fun () ->
              Workers.run_stoppable workers (fun token -> search token 0)))
      - : int option = None
    ]}

    - {b Suspends} until the job has ended.
    - {b Cancelled} while suspended. If the job has not begun, it never will,
      and the host's exception is raised at once. Otherwise [run_stoppable]
      waits until the job has ended, so no part of it outlives the call, and
      then raises the host's exception. But if the job returned nevertheless, or
      raised another exception than {!Cancelled}, this is the result, and the
      host's exception is raised where the task waits next. If a job neither
      waits nor checks, it keeps a cancelled caller waiting.
    - {b Order}, {b cost} and exceptions are those of {!run}. *)

val submit_stoppable : t -> (token -> 'a) -> 'a Promise.t * (unit -> bool)
(** [submit_stoppable t f] is {!submit}, with a function to cancel the job.

    If the job has not begun, the function returns [true]. The job never begins,
    and the promise fails with {!Cancelled}. Otherwise the function tells the
    job to stop and returns [false], and the promise gets the outcome of the
    job. The function never suspends. *)
