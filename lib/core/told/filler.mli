(** Tasks that end waits without having taken anything. Some fill a promise by
    ending, because the promise is the result of their function. A task that
    waits for the promise waits for that task.

    None of this suspends. *)

val add : (unit -> Who.t) -> is_resolved:('promise -> bool) -> 'promise -> unit
(** Call it while waits are kept. *)

val add_thread :
  ?origin:Who.origin -> is_resolved:('promise -> bool) -> 'promise -> unit
(** For the calling thread, which was started at [origin]. It does nothing while
    waits are not kept. *)

val add_receiver :
  ends_waits:(unit -> bool) -> is_over:(unit -> bool) -> 'structure -> unit
(** The calling task will receive from the structure, or another one in its
    place. While [ends_waits ()], tasks that wait in the structure wait for it.
    Nothing is kept once [is_over ()]. Both may be called at any moment, in any
    thread. It does nothing while waits are not kept. *)
