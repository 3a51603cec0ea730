(** Waits while the program looks for leaks ({!Leaks}). Only its resumer keeps a
    task's continuation alive, until the wait is decided. *)

open Task_types
open Task

val create : wait -> guarded
(** Does not keep the wait alive. *)

val keep : guarded -> wait -> unit
(** From now on the wait is kept alive. A thread that has the wait calls this
    before it decides. *)

val of_task : scheduler -> int -> wait
(** The wait of the task with this number. A guarded wait is kept alive from now
    on. If it was collected, the result is [Nowhere]. *)

val go_on : scheduler -> int -> unit
(** Continues the task of this number, which is current, was guarded, and has
    been resumed or cancelled. *)
