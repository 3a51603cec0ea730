(** A thread that keeps something for the extent of a function: a loop in a
    domain of its own, or a pool of domains.

    Only the thread that made such a thing can end it, while a task may continue
    on another domain. So a thread makes it and ends it, and the caller's task
    waits for that thread. *)

type 'r t = {
  ready : 'r Promise.t;  (** The thread has made it, and fills this. *)
  leave : unit Promise.t;  (** The function of the caller has ended. *)
  over : unit Promise.t;
      (** Resolved when the thread's function has returned or raised. The thread
          may fill it before, if the caller doesn't have to wait any longer. *)
}
(** How the thread and the caller tell each other what has happened. *)

val within : (Signals.mask -> 'r t -> unit) -> ('r -> 'a) -> 'a
(** [within body f] is [f r], where [body mask t] runs in a new thread of the
    calling domain, and fills [t.ready] with [r]. It should return soon after
    [t.leave] is filled. [mask] holds the signals that the caller blocks. The
    thread blocks all signals, because a handler that raises there would keep it
    from resolving [t.over].

    - {b Suspends} until [r] is there, where [f] does, and until [t.over] is
      resolved.
    - {b Cancelled}: the exception is raised where it waits for [r], or in [f].
      The wait for [t.over] is {{!Concord.Tasks.protect}protected}.
    - {b Raises} what [f] raises. Otherwise what [body] raises, or [Sys_error]
      if the thread can't be started. If a signal handler raises, [within] still
      waits for [t.over], unless a second one raises then. *)
