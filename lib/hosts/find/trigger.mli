(** The triggers that schedulers of ours, and those that have a plug-in and are
    run by {!Host_kit.using_plugin}, give to [Domain_local_await]. *)

type handler = Innermost.flag = { mutable up : bool; mutable asked : bool }
(** One scheduler that handles [Suspend]. [up] while it is known to be the
    innermost one; [asked] is set when {!prepare} is called. *)

val prepare :
  handler ->
  ((unit Concord_suspend.resumer -> unit option) -> unit) ->
  unit ->
  Domain_local_await.t
(** [prepare handler outside ()] is a trigger whose [await] performs [Suspend];
    if nobody handles that, it calls [outside] with the same [block]. *)

val resume : unit Concord_suspend.resumer -> unit
(** Resumes; once more, if a signal handler raises before it is known that this
    was done. Raises what the handler raised. *)

val is_handler : Domain_local_await.t -> bool
(** Was the trigger made by {!prepare}? *)

val prepare_by : Plugin.t -> unit -> Domain_local_await.t
(** A trigger whose [await] suspends by the plug-in, or parks the thread if the
    plug-in raises {!Plugin.Elsewhere}. *)
