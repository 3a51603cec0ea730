(** Who fills a promise by ending: a task of whose function it is the result.
    Whoever waits for the promise waits for that task.

    None of this suspends. *)

val add : (unit -> Who.t) -> is_resolved:('promise -> bool) -> 'promise -> unit
(** To be called while waits are kept. *)

val add_thread :
  ?origin:Who.origin -> is_resolved:('promise -> bool) -> 'promise -> unit
(** The calling thread, which was started there. It does nothing while waits are
    not kept. *)
