(** The end of a task, which resumes the tasks that wait for it, and records its
    failure.

    Unbroken: an exception that comes in one of these functions is noted. *)

val returned : Task.scheduler -> unit
(** The current task has returned. It leaves its home, and the tasks that joined
    it become ready. If its home is empty and the owner of the home waits for
    that, the owner becomes ready too. *)

val raised : Task.scheduler -> exn -> Printexc.raw_backtrace -> unit
(** The current task has raised the exception. This does the same as
    {!returned}. Unless the exception was observed, or is that of a
    cancellation, it is recorded for the loop, which stops the task's home when
    it has no other work. *)
