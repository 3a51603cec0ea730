(** The porters of pools, and pools that are torn down. The names are those of
    the functions of {!Concord_domainslib}, for messages. *)

val attach : ?pool_name:string -> string -> Domainslib.Task.pool -> unit

val known_job :
  Domainslib.Task.pool -> 'a Concord.Promise.t -> (unit -> 'b) -> unit -> 'b
(** The function, as a job of that pool that knows which one it is
    ([Concord.Private.Who]), and is known to be the one that resolves the
    promise, while waits are kept; else the function itself. *)

val post : string -> Domainslib.Task.pool -> Porter.job -> unit
(** Attaches the pool first, if it has no porter. *)

val post_with_token :
  string -> Domainslib.Task.pool -> (Token.t -> Porter.job) -> unit

val drain : Domainslib.Task.pool -> unit

val all_end : grace:float -> Domainslib.Task.pool -> bool
(** Waits so many seconds for the jobs, then tells them to stop, and waits as
    long again. [false] if jobs are left: these have failed with
    {!Porter.Torn_down}. *)

val teardown : string -> Domainslib.Task.pool -> unit
