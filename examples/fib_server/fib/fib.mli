(** The Fibonacci numbers, computed by their slow definition. They stand for the
    work of a service, because a Fibonacci number can make it as long as needed.
*)

val sequential : int -> int
(** [sequential n] is the [n]th Fibonacci number, computed by the definition of
    the sequence. The first two numbers are 0 and 1. *)

val parallel : Domainslib.Task.pool -> int -> int
(** The same, computed on all domains of a pool. Call it in a task of that pool.
*)
