(** Waiting through a trigger of [Domain_local_await]. *)

val suspend :
  Domain_local_await.t -> ((('a, exn) result -> bool) -> 'a option) -> 'a
(** [suspend trigger block] does for [block] what a host does (H1 to H3 of
    {!Concord.Suspend}), waiting by [trigger], which must not have been used. If
    the trigger belongs to a scheduler in which the calling thread does not run,
    the thread is parked instead. *)

val release : Domain_local_await.t -> unit
(** Calls its [release]; in a signal handler too, where that may need a lock
    that the thread has. *)

val suspend_thread : ((('a, exn) result -> bool) -> 'a option) -> 'a
(** As [suspend], parking the thread, whatever runs in it; on a condition
    variable of its own, so that no other waiting thread is woken.

    @raise e
      what a signal handler raises meanwhile, unless the thread is resumed, or
      in [protect_thread]; or what one has raised before, when it was. *)

val protect_thread : (unit -> 'a) -> 'a
(** [protect_thread f] is [f ()], in which what a signal handler raises does not
    end a wait of the calling thread. The next one after [protect_thread] raises
    it. *)
