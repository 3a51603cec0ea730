(** The tasks that exist. They are the members of scopes, and have numbers.

    A task that was forked is a member of one scope, its home, until it has
    ended. Until then it has a number. Daemons are members too. *)

val prepare : Task.scope -> Task.t
(** A task that can become a member of the scope. *)

val add : Task.scheduler -> Task.t -> unit
(** Makes the task that was prepared last the last member of its scope, and the
    current task. *)

val home : Task.t -> Task.scope
(** The scope that waits for the task. *)

val remove : Task.t -> Task.scope -> unit
(** Removes a task that has ended from the members of its home. Does nothing if
    it raises. *)

val release : Task.scheduler -> unit
(** Frees the memory that grew with the number of tasks. The scheduler has
    ended, but handles of its tasks may be kept. *)

val iter : (Task.t -> unit) -> Task.scope -> unit
(** In the order of forking. The function removes no member. *)

val is_over : Task.scope -> bool
(** [true] if no members are left except daemons, and its owner waits for the
    end. *)
