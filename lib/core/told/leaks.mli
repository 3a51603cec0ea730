(** [CONCORD_DEBUG=leaks] finds tasks that nothing can resume any more.

    While it is on, each wait has a {e guard} instead of its resumer. If the
    guard is collected, no code has the resumer any more. Then the task is
    resumed with {!Never_resumed}, and the wait is reported. This works only if
    the structure that a task waits in is not kept alive by the host, through
    the task (see {!Concord.Tools.Host_kit.weakly}). *)

exception Never_resumed

val max_frames : int
(** The number of frames that are reported at most. *)

val guard :
  (unit -> Printexc.raw_backtrace) ->
  'a Concord_suspend.resumer ->
  'a Concord_suspend.resumer
(** [guard waits_at resumer] is [resumer], guarded. [waits_at ()] are the frames
    of the task, asked for now. If [resumer] returns [true] a second time, that
    is reported too, because it is against H3. *)

val guard_operation : 'a Concord_suspend.resumer -> 'a Concord_suspend.resumer
(** {!guard} for an operation that has no stack while it waits. The frames are
    those of its caller. If leaks are not looked for, the result is the resumer
    itself. *)

val report_last_thread : 'a Concord_suspend.resumer -> unit
(** Resumes the calling thread with {!Never_resumed}, and reports it, because no
    other thread is left. *)

val report_last : (int -> Printexc.raw_backtrace) -> unit
(** Reports a task of the last thread that got {!Never_resumed}, with its
    innermost frames. It does nothing if the report is off. *)

val of_loop : 'block -> (unit -> 'a) -> 'a
(** [of_loop block f] is [f ()], in which [block] is that of a loop that sleeps.
    It is not guarded, because its tasks are, and a task that gets the exception
    wakes the loop. The collector may find both at once, and calls finalisers in
    any order. *)

val is_of_loop : 'block -> bool
(** [true] if this block is in {!of_loop}, by physical equality. *)

val collect : unit -> unit
(** [collect ()] finds what is lost now. It does nothing if leaks are not looked
    for. *)

val forget_exception : unit -> unit
(** Call it before the thread sleeps, while leaks are looked for. While the
    runtime records backtraces, it keeps a thread's last exception alive. That
    may be [Effect.Unhandled] with the effect of a wait. *)
