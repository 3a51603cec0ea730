(** Ways to compute in an Eio server. The variants differ in nothing else. *)

type t =
  | Blocking
      (** Figure 1 of "Effectively Composing Concurrency Libraries". The fiber
          calls [Task.run], which blocks its whole domain, and so all other
          fibers. *)
  | Composed
      (** The fiber calls [Concord_domainslib.submit] and awaits the promise, as
          it would await another fiber. *)
  | Unsplit
      (** The same, but each number is computed in one piece. It shows the cost
          and the gain of splitting a request. *)
  | Long_lived
      (** Each domain of the pool has one task, which takes all its requests
          from a Concord mailbox, and computes each in one piece. So all
          requests of a domain run on one stack, as in {!Domain_manager}. *)
  | Domain_manager
      (** Section 7.2, with Eio alone. Other domains take jobs from a stream,
          and compute each in one piece. *)
  | Executor_pool
      (** [Eio.Executor_pool], with jobs of weight 1, as the README of Eio 1.6
          recommends for several cores. Each job is computed in one piece. *)
  | Eio_promise
      (** The fiber starts a task of the pool by [Task.async], and the task
          resolves a promise of Eio. The same text recommends this for use with
          Domainslib. *)
  | As_printed
      (** Section 3.5 as it is printed. The fiber calls [Task.async], and the
          task fills a promise of Concord. A pool admits [Task.async] from only
          one domain that is not its own, the first one that calls it. So this
          works as long as all fibers that compute are in one domain. In any
          other domain, [Task.async] fails an assertion. *)
  | Mvar
      (** Section 7.2. The task puts the result into an [Mvar], and the fiber
          takes it. Like {!As_printed}, it works for one domain only. *)

val all : (string * t) list
(** All variants, with their names. *)

val with_fib :
  t -> domains:int -> _ Eio.Domain_manager.t -> ((int -> int) -> 'a) -> 'a
(** [with_fib t ~domains manager f] calls [f fib]. [fib n] computes the [n]th
    Fibonacci number on [domains] domains. Call [fib] in Eio fibers of the
    domain that called [with_fib]. The [fib] of {!Composed}, {!Unsplit},
    {!Long_lived}, {!Domain_manager} and {!Executor_pool} may be called in
    fibers of any domain. *)
