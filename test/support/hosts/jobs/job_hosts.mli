(** Attached pools, named [workers], with two domains. A body runs in the
    calling thread, beside the pool. *)

val with_pool : (Domainslib.Task.pool -> 'a) -> 'a

val jobs : Test_host.t
(** Jobs submitted to the pool. *)

val tasks : Test_host.t
(** Tasks that a job starts with Domainslib's own function. *)
