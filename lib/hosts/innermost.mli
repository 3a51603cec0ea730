(** Which scheduler registered itself last with [Domain_local_await], of those
    that run in the calling thread.

    {2 Asking} *)

type found =
  | Nobody  (** No scheduler is registered. *)
  | Noted of Plugin.t
      (** The scheduler of this plug-in was the innermost one. None was
          registered since, but that one may have been left. *)
  | Found of Plugin.t  (** The plug-in recognises the scheduler. *)
  | Trigger of Domain_local_await.t
      (** There is no plug-in for it: a trigger, for one use. *)

val find : unit -> found
(** May raise what the scheduler's [prepare_for_await] raises. {b Cost}: one
    question to [Domain_local_await], and no more in a program without plug-ins
    and other domains. *)

val forget : unit -> unit
(** From now on the calling thread asks, until it has {!Found} again. *)

(** {2 Schedulers that handle the effect}

    [Domain_local_await] calls back whenever a scheduler is registered or
    somebody asks, on those domains where this library called its [per_thread];
    not when a scheduler is left. *)

val prepare_domain : is_inside:(Domain_local_await.t -> bool) -> unit
(** To be called before a scheduler of ours registers itself in the calling
    thread: then [Domain_local_await] keeps one for each thread of the domain
    from now on, unless there is but one thread and it is in a scheduler that
    was registered before. [is_inside trigger]: does the calling task run in the
    scheduler of that fresh trigger? It may suspend. *)

type flag = {
  mutable up : bool;  (** Put up here only; anybody may put it down. *)
  mutable asked : bool;  (** For the owner. *)
}
(** For one scheduler that runs in a thread; down at first. *)

val raise_flag : flag -> unit
(** Puts the flag up. It goes down when a scheduler is registered on the calling
    domain, or somebody asks there. If these do not call back, it stays down. *)

val handling : flag -> (unit -> 'a) -> 'a
(** [handling flag loop] is [loop ()], for the scheduler with that flag. *)

val in_handler : unit -> bool
(** Is one of these known to be the innermost scheduler of the calling thread?
    [false] is no answer, and the only one unless a plug-in takes every effect.
    {b Cost}: a few nanoseconds. *)

val ask : unit -> Domain_local_await.t
(** [Domain_local_await.prepare_for_await], for this library's own questions. *)
