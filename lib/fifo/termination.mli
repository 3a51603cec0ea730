(** The end of a task: who learns of it, and what becomes of a failure.

    If a signal handler raises in one of these functions, it is noted, and the
    function does its work nevertheless. *)

val returned : Task.scheduler -> unit
(** The current task has returned: it is no member of its home any more; those
    that joined it are ready; and so is the owner of its home, if that is empty
    and the owner waits for it. *)

val raised : Task.scheduler -> exn -> Printexc.raw_backtrace -> unit
(** The current task has raised the exception. The same; and unless the
    exception was observed, or is that of a cancellation, it is recorded for the
    loop, which stops the task's home when it has nothing else to do. *)
