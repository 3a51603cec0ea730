(** A scheduler whose tasks take turns on one thread, and can be cancelled. *)

exception Cancelled

type task

val run : (unit -> unit) -> unit
(** Runs the function as a task, and returns when no tasks are left. While all tasks wait, the
    thread is blocked. *)

val fork : (unit -> unit) -> task
val yield : unit -> unit
val cancel : task -> unit
