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
(** [prepare handler outside] performs [Suspend]; or calls [outside block], if
    that is handled by nobody. *)

val is_handler : Domain_local_await.t -> bool
(** Was it made by {!prepare}? *)

val prepare_by : Plugin.t -> unit -> Domain_local_await.t
(** Suspends by the plug-in; parks the thread if that is elsewhere. *)
