(** Triggers for [Domain_local_await]. They are those of this library's
    schedulers, and of schedulers that have a plug-in and run in
    {!Host_kit.using_plugin}. *)

type handler = Innermost.flag = { mutable up : bool; mutable asked : bool }
(** One scheduler that handles [Suspend]. [up] is [true] while it is known to be
    the innermost one. [asked] is set when {!prepare} is called. *)

val prepare :
  handler ->
  ((unit Concord_suspend.resumer -> unit option) -> unit) ->
  unit ->
  Domain_local_await.t
(** [prepare handler outside ()] is a trigger whose [await] performs [Suspend].
    If the effect has no handler, it calls [outside] with the same [block].
    {!Plugin.is_handler} recognises it. *)

val resume : unit Concord_suspend.resumer -> unit
(** Resumes, unbroken. *)

val prepare_by : Plugin.t -> unit -> Domain_local_await.t
(** A trigger whose [await] suspends by the plug-in, or blocks the thread if the
    plug-in raises {!Plugin.Elsewhere}. *)
