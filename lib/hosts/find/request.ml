open Concord_suspend

type host = Suspends | Parks

type 'a seek = {
  by_effect : otherwise:(unit -> 'a) -> 'a;
  by_plugin : Plugin.t -> 'a;
  by_trigger : Domain_local_await.t -> 'a;
  by_thread : unit -> 'a;
}

type _ t =
  | Wait : ('a resumer -> 'a option) -> 'a t
  | Shield : (unit -> 'a) -> 'a t
  | Reach : (unit -> unit) ref -> host t
  | Question : 'a Effect.t * 'a -> 'a option t
  | Fork : (unit -> unit) ref -> scopes option t
  | Turn : (unit -> unit) -> unit t
  | Seek : 'a seek -> 'a t

(* Each request has a new closure. Otherwise the effect could be a constant, but [Extent] (in
   the folder holding) recognises an effect by its address. *)
let at_once (_ : (unit -> unit) ref) _ = Some Suspends

(* If a host suspends by the effect, it runs other tasks before one that is ready, even if that
   was resumed at once. *)
let resume_at_once () resumer =
  ignore (resumer (Ok ()) : bool);
  None

(* A trigger that is released before it is awaited doesn't suspend at all. So it is released
   soon after, either by a task of the scheduler ([Plugin.wake_later]) or by the timers'
   thread. The timers' thread is late if the scheduler's loop keeps OCaml's lock while it is
   idle. A timeout is set in any case, because the other task may belong to another loop, which
   is busy.

   On a busy machine, the timeout may come before the task has performed its effect. Then this
   yield gives no turn to other tasks. Nothing else depends on that, because a loop of yields
   gets another turn later. Releasing the trigger while the effect is on its way would be
   certain. But Domainslib would then continue the task at once. *)
let await_turn (trigger : Domain_local_await.t) yield =
  let seconds = if Plugin.wake_later trigger then 1e-3 else 1e-5 in
  match Timer.after seconds (fun () -> Park.release trigger) with
  | forget_timeout ->
      Backtrace.finally ~finally:forget_timeout (fun () ->
          try trigger.await () with Effect.Unhandled _ -> yield ())
  | exception (Unix.Unix_error _ | Sys_error _) -> yield ()

(* --- By other means than the effect ------------------------------------------- *)

let by_plugin (type a) (plugin : Plugin.t) (request : a t) : a =
  match request with
  | Wait block -> plugin.suspend block
  | Shield f -> plugin.protect f
  | Reach release -> plugin.suspend (at_once release)
  | Question _ -> None
  | Fork release ->
      (* Both raise [Elsewhere] if the caller is in another scheduler. *)
      if Option.is_some plugin.scopes then
        ignore (plugin.suspend (at_once release) : host)
      else plugin.protect ignore;
      plugin.scopes
  | Turn _ -> plugin.suspend (resume_at_once ())
  | Seek { by_plugin; _ } -> by_plugin plugin

let by_trigger (type a) trigger (request : a t) : a =
  match request with
  | Wait block -> Park.suspend trigger block
  | Shield f ->
      (* The host has no cancellation, or none that the library can see. *) f ()
  | Reach release -> (
      match Probe.await_at_once trigger ~release with
      | Suspended -> Suspends
      | Blocked | Unhandled -> Parks)
  | Question _ -> None
  | Fork _ -> None
  | Turn yield -> await_turn trigger yield
  | Seek { by_trigger; _ } -> by_trigger trigger

(* A thread's stack keeps alive the structure that it waits in, so the collector can't find
   such a wait. But if no other thread is left, the wait is lost. If the wait is that of a
   sleeping loop, the loop passes the exception on to its tasks. Before that, the collector
   runs, because it may find lost tasks. They are then resumed first, and the loop with them. *)
let[@inline never] or_report block resumer =
  let found = block resumer in
  if
    Option.is_none found
    && not (Others.may_wake ~asleep:0 || Others.handle_signals ())
  then
    if Leaks.is_of_loop block then begin
      Leaks.before_sleep ();
      ignore (resumer (Error Leaks.Never_resumed) : bool)
    end
    else Leaks.report_last_thread resumer;
  found

(* The same without [CONCORD_DEBUG=leaks], for a program that has never had another thread,
   domain or signal handler. *)
let[@inline never] or_report_only block resumer =
  let found = block resumer in
  if Option.is_none found && Others.is_alone () then
    ignore (resumer (Error Leaks.Never_resumed) : bool);
  found

let park block =
  !Observer.it.parks ();
  if Observer.finds_leaks () then
    Park.suspend_thread (fun resumer -> or_report block resumer)
  else if Others.may_be_alone () then
    Park.suspend_thread (fun resumer -> or_report_only block resumer)
  else begin
    Plugin.threads_park ();
    Park.suspend_thread block
  end

let by_thread (type a) (request : a t) : a =
  match request with
  | Wait block -> park block
  | Shield f -> Late.protect f
  | Reach _ -> Parks
  | Question _ -> None
  | Fork _ -> None
  | Turn yield -> yield ()
  | Seek { by_thread; _ } -> by_thread ()

let rec by_first_of plugins request ~otherwise =
  match plugins with
  | [] -> otherwise request
  | plugin :: rest -> (
      match by_plugin plugin request with
      | v -> v
      | exception Plugin.Elsewhere -> by_first_of rest request ~otherwise)

(* No handler handled the effect of the request. So the innermost scheduler doesn't know the
   effect. If a scheduler is registered, it may be the innermost one. If a scheduler doesn't
   register itself, its plug-in can only be asked whether its scheduler is there. The plug-in
   also says so if another scheduler runs in one of its tasks.

   If a plug-in raises [Elsewhere], there are two cases. It was noted, but its scheduler has
   ended since, which can't be observed. Or it was found, but its scheduler runs in another
   thread of the domain, or below a callback from C, through which no effect can pass. *)
let rec unhandled : type a. a t -> a =
 fun request ->
  match Innermost.find () with
  | Noted plugin -> (
      match by_plugin plugin request with
      | v -> v
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          unhandled request)
  | Found plugin -> (
      match by_plugin plugin request with
      | v -> v
      | exception Plugin.Elsewhere ->
          Innermost.forget ();
          by_first_of (Plugin.unregistered ()) request ~otherwise:by_thread)
  | Trigger trigger -> by_trigger trigger request
  | Nobody -> by_first_of (Plugin.unregistered ()) request ~otherwise:by_thread
