(** Which scheduler registered itself last with [Domain_local_await], of those
    that run in the calling thread.

    {2 Asking} *)

type found =
  | Nobody  (** No scheduler is registered. That may have been noted. *)
  | Noted of Plugin.t
      (** The scheduler of this plug-in was the innermost one. No scheduler was
          registered since, but this one may have ended. *)
  | Found of Plugin.t  (** The plug-in recognises the scheduler. *)
  | Trigger of Domain_local_await.t
      (** There is no plug-in for the scheduler: a trigger of it, for one use.
      *)

val find : unit -> found
(** - {b Cost}: one question to [Domain_local_await], or a few reads if the
      answer was noted.
    - {b Raises} [e] if the scheduler's [prepare_for_await] raises [e]. *)

val no_scheduler : Domain_local_await.t -> bool
(** Is the trigger the one that [Domain_local_await] gives where no scheduler is
    registered? *)

type note =
  | No_scheduler
  | Scheduler of { plugin : Plugin.t; here : Plugin.suspending }
      (** [here] suspends the tasks of the calling domain. *)

val noted : unit -> note option
(** Would {!find} give {!Nobody} or {!Noted} without asking? *)

val forget : unit -> unit
(** Drops the note: the calling thread asks again. *)

(** {2 Schedulers that handle the effect}

    [Domain_local_await] calls back whenever a scheduler is registered or a task
    asks, on those domains where this library called its [per_thread]. It does
    not call back when a scheduler ends. *)

val prepare_domain : is_inside:(Domain_local_await.t -> bool) -> unit
(** To be called before a scheduler of ours registers itself in the calling
    thread: then [Domain_local_await] keeps one for each thread of the domain
    from now on, unless there is but one thread and it is in a scheduler that
    was registered before. [is_inside trigger]: does the calling task run in the
    scheduler of that fresh trigger? It may suspend, and raise the cancellation
    of the task's host, which [prepare_domain] lets out. *)

type flag = {
  mutable up : bool;  (** Put up here only; anybody may put it down. *)
  mutable asked : bool;  (** For the scheduler that has the flag. *)
}
(** For one scheduler that runs in a thread; down at first. *)

val raise_flag : flag -> unit
(** Puts the flag up. It goes down when a scheduler is registered on the calling
    domain, or a task asks there. If these do not call back, it stays down. *)

val ask : unit -> Domain_local_await.t
(** [Domain_local_await.prepare_for_await], for this library's own questions. *)
