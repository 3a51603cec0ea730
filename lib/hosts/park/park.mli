(** Waiting through a trigger of [Domain_local_await]. *)

val suspend :
  Domain_local_await.t -> ((('a, exn) result -> bool) -> 'a option) -> 'a
(** [suspend trigger block] does for [block] what a host does (H1 to H3 of
    {!Concord.Tools.Suspend}), waiting by [trigger], which must not have been
    used. If the trigger belongs to a scheduler in which the calling thread does
    not run, the thread is parked instead. *)

val release : Domain_local_await.t -> unit
(** Calls the trigger's [release]. A signal handler may do so too, also if
    [release] needs a lock that the interrupted thread has: then another thread
    calls it. *)

val suspend_thread : ((('a, exn) result -> bool) -> 'a option) -> 'a
(** As {!suspend}, but parks the thread, whatever runs in it, on a condition
    variable of its own, so that no other waiting thread is woken.

    - {b Raises} [e] what a signal handler raises meanwhile. If the thread has
      been resumed, or is in {!Late.protect}, the exception is kept, and the
      thread's next wait outside of {!Late.protect} raises it. *)

exception In_handler
(** {!Concord.Tools.Suspend.In_handler}. *)
