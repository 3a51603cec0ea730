(** A task's own stack, with the handler of its effects. *)

val run : Task.scheduler -> unit
(** [run s] runs the current task on a new stack, on top of the loop's, until it
    ends or {!Handler.performed} returns. Call it last.

    OCaml begins a handler with a polling point, so this is broken there: the
    continuation is lost, so the task neither continues nor is unwound. So
    {!Handler.failed} gets the exception. (The bytecode interpreter polls
    earlier, and there the loop gets it.) *)
