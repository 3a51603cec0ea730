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

val drain : Domainslib.Task.pool -> unit
val teardown : string -> Domainslib.Task.pool -> unit
