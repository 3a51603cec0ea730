(** Pools of Domainslib for tests. *)

val with_pool :
  ?name:string -> ?num_domains:int -> (Domainslib.Task.pool -> 'a) -> 'a
(** [with_pool f] is [f pool], where [pool] has [num_domains] domains (1 by
    default) and is attached. Then it waits for the jobs, and tears the pool
    down. If [f] raises, it doesn't wait for the jobs. *)
