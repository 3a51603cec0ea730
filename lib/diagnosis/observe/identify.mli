(** The identity of the calling task, from the answer of its scheduler. *)

val task : unit -> Who.t
(** The calling task. It asks the host that suspends it, and the handlers
    between. If the host does not answer, the task is unknown, even if a host
    around that one does. Cancellation is deferred as by {!Reach.protect}. It
    suspends no task, but a host may let other tasks run. *)

val waker : unit -> Who.t
(** The calling task, or its thread if that calls for no task. It never
    suspends, so it knows less about tasks than {!task}. *)

val is_question : ('a Concord_suspend.resumer -> 'a option) -> bool
(** [true] for the block of a suspension of {!task}, in which the task does not
    wait for anything. *)

val add_who_of_trigger : (Domain_local_await.t -> Who.t option) -> unit
(** For a scheduler that is reached by its trigger alone. The function is called
    in a task of it. *)
