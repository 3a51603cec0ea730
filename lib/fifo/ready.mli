(** The ready queue of a scheduler, and how other threads reach it. *)

val this_domain : unit -> int
val this_thread : unit -> int

val on_loop : Task.scheduler -> bool
(** Is the calling thread the one that runs the loop, and between two tasks or
    in a task of it? *)

val is_idle : Task.scheduler -> bool
(** No task is ready, and nobody asked for anything. *)

val push : Task.scheduler -> int -> unit
(** Makes the task of that number, whose wait is decided, the last of the ready
    ones. For the thread that runs the loop only. *)

(** {2 For any thread} *)

val post : Task.scheduler -> (Task.inbox -> Task.inbox) -> unit
(** Puts a message before those that are in the inbox. *)

val wake : Task.scheduler -> unit
(** Wakes the loop if it sleeps; to be called after posting. *)

val resume : Task.t -> 'a Task.decision Atomic.t -> 'a Suspend.resumer
(** What the resumer of a task does that is suspended with that decision. *)

val unwind_doomed : Task.t -> 'a Task.decision Atomic.t -> unit
(** Makes the task ready to be unwound, if it was cancelled lazily and nobody
    has done so. *)
