(** What a scheduler keeps for its current task outside of the task's stack, for
    example the values of [Lwt.key].

    Such a scheduler sets this when it switches between its own tasks. But a
    small scheduler that runs inside one of these tasks has tasks of its own,
    which the outer one doesn't know. So the small one has to save and restore
    the context when it switches. *)

type t = (unit -> unit -> unit) option
(** How to save the context. [save ()] returns a function that makes the context
    of now current again. It may be called any number of times, and does nothing
    in a thread in which the outer scheduler doesn't run. Neither of the two
    suspends. [None] if the scheduler has no context, or none that other code
    can set. *)

val add : (unit -> t) -> unit
(** [add here] adds a kind of scheduler. [here ()] is [None] if the calling
    thread doesn't run such a scheduler. *)

val here : unit -> t
(** The context of all added schedulers that the calling thread runs. *)

val save : t -> unit -> unit
(** [save t] saves the context, and returns the function that restores it. *)
