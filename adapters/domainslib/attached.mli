(** The porters of pools, and pools that are torn down. The names are those of
    the functions of {!Concord_domainslib}, for messages. *)

val attach : string -> Domainslib.Task.pool -> unit

val post : string -> Domainslib.Task.pool -> Porter.job -> unit
(** Attaches the pool first, if it has no porter. *)

val drain : Domainslib.Task.pool -> unit
val teardown : string -> Domainslib.Task.pool -> unit
