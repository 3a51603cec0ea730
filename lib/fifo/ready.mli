(** The ready queue of a scheduler, and how other threads reach it. *)

val this_domain : unit -> int
val this_thread : unit -> int

val on_loop : Task.scheduler -> bool
(** [true] if the calling thread is the one that runs the loop, between two
    tasks or in a task of it. *)

val is_empty : Task.scheduler -> bool
(** [true] if no task is ready, and nothing was posted. *)

val is_idle : Task.scheduler -> bool
(** [true] if it is empty, and there is nothing else to do either. Every request
    from elsewhere makes it [false]. *)

(** {2 For the thread that runs the loop} *)

val push : Task.scheduler -> int -> unit
(** Makes the task of that number the last of the ready tasks. If it raises, it
    has done nothing. *)

val pop : Task.scheduler -> int
(** Takes the first of the ready tasks, which becomes the {!Task.current} one.
    It is -1 if there is none. *)

val push_due : Task.scheduler -> Task.t -> Task_types.inbox -> unit
(** [push_due s task rest] pushes the task, and makes [rest] what is due, in one
    step. If it raises, it has done neither. *)

val grow : Task.scheduler -> unit
(** Makes room in the ring. If it raises, it has done nothing. *)

val begin_spin : Task.scheduler -> int -> 'a Atomic.t -> 'a -> 'a -> unit
(** [begin_spin s number decision undecided spun_on] makes the loop spin on that
    decision, unless it was decided (see {!Spinner}). No polling point. *)

type left = Left | Ready | No_room

val leave_spin : Task.scheduler -> int -> 'a Atomic.t -> 'a -> 'a -> left
(** [leave_spin s number decision undecided spun_on] makes the loop stop
    spinning. If the wait was decided meanwhile, the task is pushed, and the
    result is [Ready]. If there is no room, nothing is done, and the result is
    [No_room]. No polling point. *)

(** {2 For any thread} *)

val post : Task.scheduler -> (Task_types.inbox -> Task_types.inbox) -> unit
(** Puts a message before those that are in the inbox. If it raises, it has done
    nothing. *)

val wake : Task.scheduler -> unit
(** Wakes the loop if it sleeps. Call it after posting. If [wake] raises, it has
    woken the loop nevertheless. *)

val surely : ('a -> 'b -> unit) -> 'a -> 'b -> unit
(** [surely f a b] calls [f a b] until it returns, and then raises the first
    exception, if there was one. It pays a debt. If [f a b] raises, it must have
    done nothing. *)

val make_ready : Task.t -> unit
(** Makes the task ready, whose wait the caller has decided. If [make_ready]
    raises, the task is ready nevertheless. *)

val resume : Task.t -> 'a Decision.t -> 'a Concord_suspend.resumer
(** The resumer of a task that is suspended with that decision. *)

val unwind_doomed : Task.t -> 'a Decision.t -> unit
(** Makes the task ready to be unwound, if it was cancelled lazily and is not
    ready yet. *)
