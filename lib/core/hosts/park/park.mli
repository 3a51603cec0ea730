(** Waiting through a trigger of [Domain_local_await]. *)

val suspend :
  Domain_local_await.t -> ((('a, exn) result -> bool) -> 'a option) -> 'a
(** [suspend trigger block] treats [block] as a host does (H1 to H3 of
    {!Concord.Tools.Suspend}), and waits by [trigger], which must not have been
    used. If the trigger belongs to a scheduler in which the calling thread does
    not run, the thread is blocked instead. *)

val release : Domain_local_await.t -> unit
(** Calls the trigger's [release]. A signal handler may do so too. If [release]
    needs a lock that the interrupted thread has, another thread calls it. *)

val suspend_thread : ((('a, exn) result -> bool) -> 'a option) -> 'a
(** {!suspend}, except that it blocks the thread, whatever runs in it, on a
    condition variable of its own, so that no other waiting thread is woken.

    - {b Raises} [e] if a signal handler raises [e] meanwhile. If the thread has
      been resumed, or is in {!Late.protect}, the exception is kept, and the
      thread's next wait outside {!Late.protect} raises it. *)

val spins : Spin.t Domain.DLS.key
(** What {!suspend_thread} has learned about spinning in the calling domain. A
    spin after which a thread of the same domain resumed the caller was in vain.
    For tests. *)

exception In_handler
(** {!Concord.Tools.Suspend.In_handler}. *)
