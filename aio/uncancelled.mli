(** Waits that soon end, and that must not be given up before. For example, a
    descriptor would otherwise never be closed. *)

val await : 'a Concord.Promise.t -> ('a, exn) result
(** The outcome of the promise.

    - {b Suspends} until it is resolved. If the calling task can't be suspended,
      because it is a callback, its thread is blocked instead. The same holds if
      the task is cancelled and its host can't delay that. So another thread has
      to resolve the promise, whatever this one does.
    - {b Cancelled} never. *)

val attempt : 'a Concord.Promise.t -> ('a, exn) result option
(** {!await}, but [None] where it would block the thread. *)
