(** [CONCORD_DEBUG=strict]: a lock is waited for, if only for a moment, even if
    it is free.

    So a caller that must not wait, such as a callback of Lwt or a job of Async,
    is refused each time, and not only while another task has the lock. *)

val is_on : bool
(** Is [strict] one of the words in [CONCORD_DEBUG] when the program starts? *)

val before_lock : unit -> unit
(** Suspends the calling task until the timers' thread resumes it, if strictness
    {!is_on}. For operations that may wait for a holder, before they begin. It
    raises what the host refuses with. *)
