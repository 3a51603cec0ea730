(** Tasks that fill a promise by ending, because the promise is the result of
    their function. A task that waits for the promise waits for that task.

    None of this suspends. *)

val add : (unit -> Who.t) -> is_resolved:('promise -> bool) -> 'promise -> unit
(** Call it while waits are kept. *)

val add_thread :
  ?origin:Who.origin -> is_resolved:('promise -> bool) -> 'promise -> unit
(** For the calling thread, which was started at [origin]. It does nothing while
    waits are not kept. *)
