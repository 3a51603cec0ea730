(** Cancelling tasks and scopes.

    If a signal handler makes one of these raise, it has done its work
    nevertheless; or, called by another thread, it has done nothing. *)

val task : Task.t -> unit
(** Any thread may call it. To cancel the first task is to cancel the outermost
    scope. *)

val scope : Task.scope -> unit
(** Cancels the members of the scope, its body, and the scopes inside. Any
    thread may call it. *)

(** {2 For the thread that runs the loop} *)

val interrupt : Task.scheduler -> Task.t -> unit
(** Does what must be done if the task is cancelled and suspended. *)

val task_here : Task.scheduler -> Task.t -> unit
val scope_here : Task.scheduler -> Task.scope -> unit

val stop_all : Task.scheduler -> Task.scope -> unit
(** As {!scope_here}, even if the scope was stopped before. *)
