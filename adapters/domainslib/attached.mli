(** The porters of pools, and pools that are torn down. The names, for messages,
    are those of the functions of {!Concord_domainslib}. *)

val attach : ?pool_name:string -> string -> Domainslib.Task.pool -> unit

val known_job :
  Domainslib.Task.pool -> 'a Concord.Promise.t -> (unit -> 'b) -> unit -> 'b
(** [known_job pool promise f] is [f], as a job of that pool that knows its
    identity ([Concord.Private.Who]). It is also known to resolve the promise.
    This is so while waits are kept. Otherwise it is [f] itself. *)

val post : string -> Domainslib.Task.pool -> Porter.job -> unit
(** Attaches the pool first, if it has no porter. *)

val post_with_token :
  string -> Domainslib.Task.pool -> (Token.t -> Porter.job) -> unit

val drain : Domainslib.Task.pool -> unit

val all_end : grace:float -> Domainslib.Task.pool -> bool
(** [all_end ~grace pool] waits [grace] seconds for the jobs, then tells them to
    stop, and waits as long again. It is [false] if jobs are left, which have
    failed with {!Porter.Torn_down}. *)

val teardown : string -> Domainslib.Task.pool -> unit
