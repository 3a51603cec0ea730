open Concord_suspend

type host = Suspends | Parks

type _ t =
  | Wait : ('a resumer -> 'a option) -> 'a t
  | Shield : (unit -> 'a) -> 'a t
  | Reach : (unit -> unit) ref -> host t
  | Question : 'a Effect.t * 'a -> 'a option t
  | Fork : (unit -> unit) ref -> scopes option t
  | Turn : unit t
  | Who : Who.t t

(* A closure of its own for each request: [Lazy] looks for the very effect. *)
let at_once (_ : (unit -> unit) ref) _ = Some Suspends

(* A host that suspends by the effect has others go on before a task that is ready,
   also if it was resumed at once. *)
let resume_at_once () resumer =
  ignore (resumer (Ok ()) : bool);
  None

(* A task of the scheduler releases the trigger, or the timers' thread, soon: a trigger that
   is released before it is awaited does not suspend at all. That thread comes late if the
   scheduler's loop keeps OCaml's lock while it has nothing to do. It is asked in any case:
   the other task may be one of another loop, which is busy. On a busy machine the thread may
   come before the task has performed its effect. Then this yield gives no turn, and nothing
   else follows from it: a loop that yields has its turn at another time. To release the
   trigger while the effect is on its way would be certain, but Domainslib then continues the
   task at once. *)
let await_turn (trigger : Domain_local_await.t) =
  let seconds = if Plugin.wake_later trigger then 1e-3 else 1e-5 in
  match Timer.after seconds (fun () -> Park.release trigger) with
  | forget_timeout ->
      Fun.protect ~finally:forget_timeout (fun () ->
          try trigger.await () with Effect.Unhandled _ -> Thread.yield ())
  | exception (Unix.Unix_error _ | Sys_error _) -> Thread.yield ()

(* --- By other means than the effect ------------------------------------------- *)

let by_plugin (type a) (plugin : Plugin.t) (request : a t) : a =
  match request with
  | Wait block -> plugin.suspend block
  | Shield f -> plugin.protect f
  | Reach release -> plugin.suspend (at_once release)
  | Question _ -> None
  | Fork release ->
      (* raises, if it is elsewhere *)
      if Option.is_some plugin.scopes then
        ignore (plugin.suspend (at_once release) : host);
      plugin.scopes
  | Turn -> plugin.suspend (resume_at_once ())
  | Who -> Identify.by_plugin plugin

let by_trigger (type a) trigger (request : a t) : a =
  match request with
  | Wait block -> Park.suspend trigger block
  | Shield f ->
      (* a host without cancellation, or one that does not tell *) f ()
  | Reach release -> (
      match Probe.await_at_once trigger ~release with
      | Suspended -> Suspends
      | Blocked | Unhandled -> Parks)
  | Question _ -> None
  | Fork _ -> None
  | Turn -> await_turn trigger
  | Who -> Who.asked_or (fun () -> Plugin.who_of_trigger trigger)

(* Its stack keeps alive what a thread waits in: so the collector cannot find it. But the
   last thread of a program is known to be lost. A loop that sleeps tells its tasks; those
   that the collector finds are resumed before, and the loop with them. *)
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

(* The same where nobody asked for it: in a program that has never had anything else. *)
let[@inline never] or_report_only block resumer =
  let found = block resumer in
  if Option.is_none found && Others.is_alone () then
    ignore (resumer (Error Leaks.Never_resumed) : bool);
  found

let by_thread (type a) (request : a t) : a =
  match request with
  | Wait block when Leaks.is_on ->
      Park.suspend_thread (fun resumer -> or_report block resumer)
  | Wait block when Others.may_be_alone () ->
      Park.suspend_thread (fun resumer -> or_report_only block resumer)
  | Wait block ->
      Plugin.threads_park ();
      Park.suspend_thread block
  | Shield f -> Late.protect f
  | Reach _ -> Parks
  | Question _ -> None
  | Fork _ -> None
  | Turn -> Thread.yield ()
  | Who -> Who.asked_or Who.of_thread

let rec by_first_of plugins request ~otherwise =
  match plugins with
  | [] -> otherwise request
  | plugin :: rest -> (
      match by_plugin plugin request with
      | v -> v
      | exception Plugin.Elsewhere -> by_first_of rest request ~otherwise)

(* The effect of the request was not handled: so the innermost scheduler is one of
   those that do not know it. One that is registered may be the innermost; one that
   is not can only be asked whether it is there, and answers too if another one runs
   in its task.

   A plug-in that finds itself elsewhere was noted before its scheduler ended, which
   cannot be observed; or it was found, but its scheduler runs in another thread of
   the domain, or below a callback from C, which no effect can pass. *)
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
