(** Asking the calling task's host for other things than to wait. *)

open Concord_suspend

type host =
  | Suspends  (** A scheduler, which the effect has reached. *)
  | Parks  (** There is no scheduler, so the system thread would be blocked. *)

val probe : Probe.passing -> host
(** {!Concord.Tools.Host_kit.probe}. *)

val may_be_woken : asleep:int -> bool
(** {!Concord.Tools.Host_kit.may_be_woken}. *)

val park_or_refuse : exn -> ('a resumer -> 'a option) -> 'a
(** [park_or_refuse e block] is [Park.suspend_thread block], or {!Reach.refuse}
    [e] if nothing is left that could wake the thread. For a thread whose loop
    never continues, because it has called [exit]. *)

val yield : unit -> unit
(** {!Concord.Tasks.yield}. *)

val let_host_run : unit -> unit
(** {!yield}, except that a thread without a scheduler continues at once. *)

val add_waker_of_trigger : (Domain_local_await.t -> bool) -> unit
(** [add_waker_of_trigger waker], for a scheduler that is reached by its trigger
    alone. If the trigger is one of its own, [waker trigger] may make it release
    the trigger, once the tasks that are ready have run. It returns whether it
    does. *)

val scopes : unit -> scopes option
(** {!Concord.Tools.Host_kit.scopes}. *)
