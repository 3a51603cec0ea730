(** The ready queue of a scheduler, and how other threads reach it. *)

val this_domain : unit -> int
val this_thread : unit -> int

val on_loop : Task.scheduler -> bool
(** Is the calling thread the one that runs the loop, and between two tasks or
    in a task of it? *)

val is_empty : Task.scheduler -> bool
(** Is no task ready, and was nothing posted? *)

val is_idle : Task.scheduler -> bool
(** Is it empty, and is there nothing else to do either? Whatever a signal
    handler or another thread can ask of the loop makes it [false]. *)

(** {2 For the thread that runs the loop} *)

val push : Task.scheduler -> int -> unit
(** Makes the task of that number the last of the ready ones. If it raises, it
    has done nothing. *)

val pop : Task.scheduler -> int
(** Takes the first of the ready tasks, which becomes the {!Task.current} one;
    or is -1. *)

val push_due : Task.scheduler -> Task.t -> Task.inbox -> unit
(** [push_due s task rest] pushes the task, and makes [rest] what is due, in one
    step. If it raises, it has done neither. *)

val grow : Task.scheduler -> unit
(** Makes room in the ring. If it raises, it has done nothing. *)

val begin_spin : Task.scheduler -> int -> 'a Atomic.t -> 'a -> 'a -> unit
(** [begin_spin s number decision undecided spun_on]: the loop spins on that
    decision, unless it was decided. See {!Spinner}. No polling point. *)

type left = Left | Ready | No_room

val leave_spin : Task.scheduler -> int -> 'a Atomic.t -> 'a -> 'a -> left
(** [leave_spin s number decision undecided spun_on]: it stops spinning. If it
    was decided meanwhile the task is pushed, [Ready]; unless there is no room,
    and nothing is done. No polling point. *)

(** {2 For any thread} *)

val post : Task.scheduler -> (Task.inbox -> Task.inbox) -> unit
(** Puts a message before those that are in the inbox. If it raises, it has done
    nothing. *)

val wake : Task.scheduler -> unit
(** Wakes the loop if it sleeps; to be called after posting. If [wake] raises,
    it has woken the loop nevertheless. *)

val surely : ('a -> 'b -> unit) -> 'a -> 'b -> unit
(** [surely f a b] pays a debt by [f a b]. If [f a b] raises, it has done
    nothing: so it is called again until it returns, and then its first
    exception is raised. *)

val make_ready : Task.t -> unit
(** Makes the task ready, whose wait the caller has decided. If [make_ready]
    raises, it has done so nevertheless. *)

val resume : Task.t -> 'a Decision.t -> 'a Suspend.resumer
(** The resumer of a task that is suspended with that decision. *)

val unwind_doomed : Task.t -> 'a Decision.t -> unit
(** Makes the task ready to be unwound, if it was cancelled lazily and is not
    ready yet. *)
