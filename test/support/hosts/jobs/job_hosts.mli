(** Attached pools. *)

(** {1 Pools with two domains, named [workers]}

    A body runs in the calling thread, beside the pool. *)

val with_pool : (Domainslib.Task.pool -> 'a) -> 'a

val jobs : Test_host.t
(** Jobs submitted to the pool. *)

val tasks : Test_host.t
(** Tasks that a job starts with Domainslib's own function. *)

(** {1 A pool without further domains} *)

val only_domain : Test_host.t
(** Tasks started with Domainslib's own function. A body is a task too, so no
    task may block the domain. Unlike [Domainslib_hosts.pool], the pool is
    attached, so a yield is fast. *)
