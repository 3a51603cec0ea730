(** Waits while the program looks for leaks ({!Leaks}): a task's continuation is
    kept alive by its resumer alone, until somebody decides. *)

open Task

val create : wait -> guarded
(** Does not keep the wait alive. *)

val keep : guarded -> wait -> unit
(** From now on the wait is kept alive. Any thread that has the wait calls it,
    before it decides. *)

val of_task : scheduler -> int -> wait
(** What the task of this number waits for. A guarded wait is kept alive from
    now on; it is [Nowhere] if it is gone. *)

val go_on : scheduler -> int -> unit
(** Continues the task of this number, which is current, was guarded, and has
    been resumed or cancelled. *)
