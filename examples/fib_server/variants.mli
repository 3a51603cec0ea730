(** The ways to compute in an Eio server; the choice is all that differs between
    them. *)

type t =
  | Blocking
      (** Figure 1 of "Effectively Composing Concurrency Libraries": the fiber
          calls [Task.run], which blocks not just the fiber but its domain, and
          with it all the other fibers. *)
  | Composed
      (** The fiber calls [Concord_domainslib.submit] and awaits the promise, as
          it would await another fiber. *)
  | Unsplit
      (** The same, but each number is computed in one piece: shows what the
          splitting of a request costs, and gains. *)
  | Domain_manager
      (** Section 7.2: Eio alone. Other domains take jobs from a stream, and
          compute each in one piece. *)
  | Executor_pool
      (** What the README of Eio 1.6 recommends for several cores:
          [Eio.Executor_pool], with jobs of weight 1. Each is computed in one
          piece. *)
  | Eio_promise
      (** What the same text recommends for use with Domainslib: the fiber
          starts a task of the pool by [Task.async], which resolves a promise of
          Eio's. *)
  | As_printed
      (** Section 3.5, as it is printed: the fiber calls [Task.async], the task
          fills a promise of Concord. A pool admits [Task.async] from one domain
          that is not its own, the first that calls it, so this works as long as
          all fibers that compute are in one domain: in any other domain,
          [Task.async] fails an assertion. *)
  | Mvar
      (** Section 7.2, where the task puts the result into an [Mvar] that the
          fiber takes it from. It needs the same place in the pool. *)

val all : (string * t) list
(** With their names. *)

val with_fib :
  t -> domains:int -> _ Eio.Domain_manager.t -> ((int -> int) -> 'a) -> 'a
(** [with_fib t ~domains manager f] calls [f fib], where [fib n] computes the
    [n]th Fibonacci number on [domains] domains. It is to be called in Eio
    fibers of the domain that called [with_fib]; that of {!Composed},
    {!Unsplit}, {!Domain_manager} and {!Executor_pool} may be called in those of
    any. *)
