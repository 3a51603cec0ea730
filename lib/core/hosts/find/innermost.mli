(** The scheduler that registered itself last with [Domain_local_await], among
    those that run in the calling thread.

    {2 Asking} *)

type found =
  | Nobody  (** No scheduler is registered. That may have been noted. *)
  | Noted of Plugin.t
      (** The scheduler of this plug-in was the innermost one. No scheduler was
          registered since, but this one may have ended. *)
  | Found of Plugin.t  (** The plug-in recognises the scheduler. *)
  | Trigger of Domain_local_await.t
      (** There is no plug-in for the scheduler. This is a trigger of it, for
          one use. *)

val find : unit -> found
(** - {b Cost}: one question to [Domain_local_await], or a few reads if the
      answer was noted.
    - {b Raises} [e] if the scheduler's [prepare_for_await] raises [e]. *)

val no_scheduler : Domain_local_await.t -> bool
(** [true] if the trigger is the one that [Domain_local_await] gives if no
    scheduler is registered. *)

type note =
  | No_scheduler
  | Scheduler of { plugin : Plugin.t; here : Plugin.suspending }
      (** [here] suspends the tasks of the calling domain. *)

val noted : unit -> note option
(** The note, if {!find} would return {!Nobody} or [Noted] without asking. *)

val forget : unit -> unit
(** Drops the note, so that the calling thread asks again. *)

(** {2 Schedulers that handle the effect}

    [Domain_local_await] calls back whenever a scheduler is registered or a task
    asks, on those domains where this library called its [per_thread]. It does
    not call back when a scheduler ends. *)

val prepare_domain : is_inside:(Domain_local_await.t -> bool) -> unit
(** Call it before a scheduler of this library registers itself in the calling
    thread. From then on [Domain_local_await] keeps one scheduler for each
    thread of the domain. It doesn't if there is only one thread, and that is in
    a scheduler that was registered before.

    [is_inside trigger] is [true] if the calling task runs in the scheduler of
    that fresh trigger. It may suspend, and raise the cancellation of the task's
    host. Then [prepare_domain] raises it too. *)

val using :
  is_inside:(Domain_local_await.t -> bool) ->
  prepare_for_await:(unit -> Domain_local_await.t) ->
  while_running:(unit -> 'a) ->
  'a
(** {!prepare_domain}, then [Domain_local_await.using], for a scheduler of this
    library. When two threads of the domain have to be distinguished later, this
    scheduler is registered for its own thread, and the one around it stays.

    There is one exception. If another thread of the domain runs a foreign
    scheduler inside one of this library, and the threads are not distinguished
    yet, the new scheduler isn't registered. *)

type flag = {
  mutable up : bool;
      (** Only this module puts it up, but any code may put it down. *)
  mutable asked : bool;  (** For the scheduler that has the flag. *)
}
(** A flag of one scheduler that runs in a thread. It is down at first. *)

val raise_flag : flag -> unit
(** Puts the flag up. It goes down when a scheduler is registered on the calling
    domain, or a task asks there. If these do not call back, it stays down. *)

val ask : unit -> Domain_local_await.t
(** [Domain_local_await.prepare_for_await], for this library's own questions. *)
