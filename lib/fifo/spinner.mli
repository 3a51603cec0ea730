(** A loop that has nothing to do spins before it sleeps: on its inbox, and on
    the decision of the task that suspended last. *)

val before_sleep : Task.scheduler -> bool
(** Looks for a while, if that is likely to be worth it, and returns whether
    there is something to do. Other threads of the domain have their turns
    meanwhile.

    - {b Raises} [e] what a signal handler raises, or {!Ready.push} where memory
      is full. *)

val leave : Task.scheduler -> unit
(** To be called, in the loop's thread, before the decision of a task that waits
    is used otherwise: the loop may be looking at it, beneath a signal handler.
    If [leave] raises, it has done nothing. *)
