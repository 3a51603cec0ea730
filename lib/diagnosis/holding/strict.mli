(** Strict mode, in which an operation that may wait for a holder checks that
    its caller can wait, even if the lock is free.

    You enable it by [CONCORD_DEBUG=strict]. A caller that must not wait, such
    as a callback of Lwt or a job of Async, is then refused each time. Without
    it, the caller is only refused while another task has the lock. *)

val is_on : bool
(** [is_on] is [true] if [CONCORD_DEBUG] contained the word [strict] when the
    program started. *)

val before_lock : unit -> unit
(** [before_lock ()] is called before an operation that may wait for a holder.
    If strictness {!is_on}, it raises the host's refusal, if the caller can't
    wait. It doesn't raise the host's cancellation. The task isn't suspended if
    its host handles {!Concord_suspend.extension-Suspend}. If its host has a
    plug-in or a trigger, the task waits until the timers' thread resumes it. *)
