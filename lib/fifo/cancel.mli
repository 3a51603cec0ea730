(** Cancelling tasks and scopes.

    Unbroken in the loop's thread. If another thread has called such a function,
    and it raises, it has done nothing. *)

val task : Task.t -> unit
(** Any thread may call it. If the task is the first one, this cancels the
    outermost scope. *)

val scope : Task.scope -> unit
(** Cancels the members of the scope, its body, and the scopes inside. Any
    thread may call it. *)

(** {2 For the thread that runs the loop} *)

val interrupt : Task.scheduler -> Task.t -> unit
(** If the task is cancelled and suspended, decides its wait. *)

val task_here : Task.scheduler -> Task.t -> unit
(** {!task}, of a task of that scheduler. *)

val scope_here : Task.scheduler -> Task.scope -> unit
(** {!scope}, of a scope of that scheduler. *)

val daemons : Task.scheduler -> Task.scope -> unit
(** If the scope is over ({!Members.is_over}), cancels what is left of it. *)

val is_inside : Task.scope -> Task.scope -> bool
(** [is_inside outer scope] is [true] if [scope] is [outer], or a scope inside
    it. *)

val stop_all : Task.scheduler -> Task.scope -> unit
(** As {!scope_here}, even if the scope was stopped before. *)
