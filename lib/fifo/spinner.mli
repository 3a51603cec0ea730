(** A loop without work spins before it sleeps. It spins on its inbox, and on
    the decision of the task that suspended last. *)

val before_sleep : Task.scheduler -> bool
(** Spins for a while, if that is likely to be worth it, and returns whether
    there is something to do. Other threads of the domain run meanwhile.

    - {b Raises} the exception of {!Ready.push} if memory is full. *)

val leave : Task.scheduler -> unit
(** Call it in the loop's thread before you use the decision of a task that
    waits, because the loop may be spinning on it, beneath a callback. If
    [leave] raises, it has done nothing. *)
