(** Work for an unmodified Domainslib pool, submitted from anywhere.

    [Domainslib.Task.async] must be called from a domain that the pool knows,
    and [Domainslib.Task.run] blocks its caller's whole domain. {!submit} may be
    called from any Eio fiber, thread, domain or task, returns at once, and
    gives a promise for which any task can wait. (Section 3.5 of "Effectively
    Composing Concurrency Libraries".)

    {[
      # let pool = Domainslib.Task.setup_pool ~num_domains:1 ()
      val pool : Domainslib.Task.pool = <abstr>
      # Concord.Promise.await (Concord_domainslib.submit pool (fun () -> 6 * 7))
      - : int = 42
      # Domainslib.Task.teardown_pool pool
      - : unit = ()
    ]} *)

exception Cancelled
(** What a promise of {!submit_cancellable} fails with. *)

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

    Jobs that wait or are suspended when the pool is torn down are lost: their
    promises are never resolved.

    Once a pool is attached, or has got a job, a signal handler may call
    [submit], except on a domain of the pool. An exception that a signal handler
    raises in [submit] loses no job that was submitted before.

    The pool must have at least one domain of its own ([num_domains >= 1]), or
    be inside [Domainslib.Task.run]. One job waits for no other.

    - {b Order}: jobs are started in the order of submission from one domain.
    - {b Cost}: O(1); the first [submit] to a pool also starts a task there.
    - {b Raises} [Invalid_argument] if [pool] was torn down, or if its place is
      taken by another domain and {!attach} was never called. *)

val submit_cancellable :
  Domainslib.Task.pool -> (unit -> 'a) -> 'a Concord.Promise.t * (unit -> bool)
(** As {!submit}, with a function that cancels the job: [true] if the job had
    not started; it then never will, and the promise fails with {!Cancelled}.
    [false] if it has started, ended or was cancelled before. The function never
    suspends; O(1). *)

val attach : Domainslib.Task.pool -> unit
(** [attach pool] makes [pool] ready for {!submit} from anywhere, and takes the
    pool's place for an outside domain, if that is free, for the calling domain.
    Calling it again does nothing. It does not suspend.

    - {b Raises} [Invalid_argument] if [pool] was torn down, or if another
      domain has the place. *)
