(** Three ways to compute in an Eio server; the choice is all that differs
    between them. *)

type t =
  | Blocking
      (** Figure 1 of "Effectively Composing Concurrency Libraries": the fiber
          calls [Task.run], which blocks not just the fiber but its domain, and
          with it all the other fibers. *)
  | Composed
      (** Section 3.5: the fiber submits the work to the pool and waits for a
          promise, as it would wait for another fiber. *)
  | Domain_manager
      (** Section 7.2: Eio alone. Other domains take jobs from a stream, and
          compute each in one piece. *)

val all : (string * t) list
(** With their names. *)

val with_fib :
  t -> domains:int -> _ Eio.Domain_manager.t -> ((int -> int) -> 'a) -> 'a
(** [with_fib t ~domains manager f] calls [f fib], where [fib n] computes the
    [n]th Fibonacci number on [domains] domains. It is to be called in Eio
    fibers of the domain that called [with_fib]. *)
