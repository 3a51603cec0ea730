(** A task's own stack, with the handler of its effects. *)

val run : Task.scheduler -> unit
(** [run s] runs the current task on a new stack, on top of the loop's, until it
    ends or {!Handler.performed} returns. Call it last.

    OCaml begins a handler with a polling point, so this is broken there: the
    continuation is lost, so the task neither continues nor is unwound. With
    OCaml 5.3 or later {!Handler.failed} gets the exception. Before that,
    handlers are made by [Effect.Deep.match_with] only, and the loop gets it.
    (The bytecode interpreter polls earlier, with any OCaml.) *)
