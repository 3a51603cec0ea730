(** The Fibonacci numbers, computed the slow way: each service has its work to
    do, and this one is easily made as large as wanted. *)

val sequential : int -> int
(** [sequential n] is the [n]th Fibonacci number, where the first two are 0 and
    1, by the definition of the sequence. *)

val parallel : Domainslib.Task.pool -> int -> int
(** The same on all domains of a pool. To be called in a task of that pool. *)
