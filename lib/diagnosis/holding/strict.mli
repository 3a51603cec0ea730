(** Strict mode, in which locking always waits for a moment, even if the lock is
    free.

    You enable it by [CONCORD_DEBUG=strict]. A caller that must not wait, such
    as a callback of Lwt or a job of Async, is then refused each time. Without
    it, the caller is only refused while another task has the lock. *)

val is_on : bool
(** [is_on] is [true] if [CONCORD_DEBUG] contained the word [strict] when the
    program started. *)

val before_lock : unit -> unit
(** [before_lock ()] suspends the calling task until the timers' thread resumes
    it, if strictness {!is_on}. Call it before an operation that may wait for a
    holder. It raises the host's refusal. *)
