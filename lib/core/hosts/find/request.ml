open Concord_suspend

type ('x, 'a) t = {
  by_effect : 'x -> otherwise:('x -> 'a) -> 'a;
  by_plugin : Plugin.t -> 'x -> 'a;
  by_trigger : Domain_local_await.t -> 'x -> 'a;
  by_thread : 'x -> 'a;
}

(* --- Finding the host ------------------------------------------------------------- *)

let rec by_first_of plugins request x ~otherwise =
  match plugins with
  | [] -> otherwise request x
  | plugin :: rest -> (
      match request.by_plugin plugin x with
      | v -> v
      | exception Plugin.Elsewhere -> by_first_of rest request x ~otherwise)

let by_unregistered request x =
  by_first_of (Plugin.unregistered ()) request x ~otherwise:(fun request x ->
      request.by_thread x)

(* No handler handled the effect of the request. So the innermost scheduler doesn't know the
   effect. If a scheduler is registered, it may be the innermost one. If a scheduler doesn't
   register itself, its plug-in can only be asked whether its scheduler is there. The plug-in
   also says so if another scheduler runs in one of its tasks.

   If a plug-in raises [Elsewhere], there are two cases. It was noted, but its scheduler has
   ended since, which can't be observed. Or it was found, but its scheduler runs in another
   thread of the domain, or below a callback from C, through which no effect can pass. *)
let rec unhandled request x =
  match Innermost.find () with
  | (Noted plugin | Found plugin) as found -> (
      match request.by_plugin plugin x with
      | v -> v
      | exception Plugin.Elsewhere -> (
          Innermost.forget ();
          match found with
          | Noted _ -> unhandled request x
          | Found _ | Trigger _ | Nobody -> by_unregistered request x))
  | Trigger trigger -> request.by_trigger trigger x
  | Nobody -> by_unregistered request x

(* If one request comes back without a handler, all do. Otherwise a handler further out would
   get some effects of a task and not others. *)
let perform request x =
  if Plugin.comes_back () then unhandled request x
  else request.by_effect x ~otherwise:(fun x -> unhandled request x)

let ask_past_greedy_ones request x =
  match Greedy.way () with
  | Perform -> perform request x
  | Plugins plugins -> by_first_of plugins request x ~otherwise:perform
  | Trigger trigger -> request.by_trigger trigger x

let ask request x =
  if Greedy.exist () then ask_past_greedy_ones request x else perform request x

(* --- Waiting ---------------------------------------------------------------------- *)

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
      Leaks.collect ();
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

let suspend_or block ~otherwise =
  match Effect.perform (Suspend block) with
  | v -> v
  | exception Effect.Unhandled (Suspend unhandled)
    when Identity.equal unhandled block ->
      otherwise ()

let wait =
  {
    by_effect =
      (fun block ~otherwise ->
        suspend_or block ~otherwise:(fun () -> otherwise block));
    by_plugin = (fun plugin block -> plugin.suspend block);
    by_trigger = (fun trigger block -> Park.suspend trigger block);
    by_thread = (fun block -> park block);
  }

(* --- Deferring cancellation --------------------------------------------------------- *)

let shield =
  {
    by_effect =
      (fun f ~otherwise ->
        match Effect.perform Protect with
        | unshield -> Backtrace.finally f ~finally:unshield
        | exception Effect.Unhandled Protect -> otherwise f);
    by_plugin = (fun plugin f -> plugin.protect f);
    by_trigger =
      (fun _ f ->
        (* The host has no cancellation, or none that the library can see. *)
        f ());
    by_thread = (fun f -> Late.protect f);
  }
