open Concord_suspend

(* --- What the library asks of a host --------------------------------------- *)

type host = Suspends | Parks

(* [Reach]: to be called when the effect of the suspension is on its way.
   [Question]: [None] if it may not be performed, or that is not known.
   [Turn]: others go on before the calling task does. *)
type _ request =
  | Wait : ('a resumer -> 'a option) -> 'a request
  | Shield : (unit -> 'a) -> 'a request
  | Reach : (unit -> unit) ref -> host request
  | Question : 'a Effect.t * 'a -> 'a option request
  | Fork : (unit -> unit) ref -> scopes option request
  | Turn : unit request
  | Who : Who.t request

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
   the other task may be one of another loop, which is busy. *)
let await_turn (trigger : Domain_local_await.t) =
  let seconds = if Plugin.wake_later trigger then 1e-3 else 1e-5 in
  match Timer.after seconds (fun () -> Park.release trigger) with
  | forget_timeout ->
      Fun.protect ~finally:forget_timeout (fun () ->
          try trigger.await () with Effect.Unhandled _ -> Thread.yield ())
  | exception (Unix.Unix_error _ | Sys_error _) -> Thread.yield ()

(* --- By other means than the effect ------------------------------------------- *)

let by_plugin (type a) (plugin : Plugin.t) (request : a request) : a =
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

let by_trigger (type a) trigger (request : a request) : a =
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

let by_thread (type a) (request : a request) : a =
  match request with
  | Wait block when Leaks.is_on ->
      Park.suspend_thread (fun resumer -> Last_thread.or_tell block resumer)
  | Wait block when Others.may_be_alone () ->
      Park.suspend_thread (fun resumer ->
          Last_thread.or_tell_only block resumer)
  | Wait block ->
      Plugin.threads_park ();
      Park.suspend_thread block
  | Shield f -> Park.protect_thread f
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
let rec unhandled : type a. a request -> a =
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

let[@inline] shielded f unshield =
  match f () with
  | v ->
      unshield ();
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      unshield ();
      Printexc.raise_with_backtrace e backtrace

let perform_scopes () =
  match Effect.perform Scopes with
  | scopes -> Some scopes
  | exception Effect.Unhandled Scopes -> None

(* A host that handles [Suspend] only passes the effects that it does not know: so an
   answer may be that of the host around it, whose tasks would not be its own. [block]
   runs outside of the host, and finds that one; but what is there may be a scheduler
   that takes every effect. *)
let scopes_or request ~unhandled =
  let block _ = Some (perform_scopes ()) in
  if Plugin.some_takes_every_effect () then
    match perform_scopes () with
    | Some _ as scopes -> scopes
    | None -> unhandled request
  else
    match Effect.perform (Suspend block) with
    | exception Effect.Unhandled (Suspend unhandled_)
      when Identity.equal unhandled_ block ->
        unhandled request
    | around -> (
        match (perform_scopes (), around) with
        | Some scopes, Some others when scopes == others -> None
        | scopes, _ -> scopes)

(* Protected, as the caller may hold what others wait for. *)
let shield_if_handled f =
  match Effect.perform Protect with
  | unshield -> shielded f unshield
  | exception Effect.Unhandled Protect -> f ()

let who_or request ~unhandled =
  let suspend block =
    match shield_if_handled (fun () -> Effect.perform (Suspend block)) with
    | around -> Some around
    | exception Effect.Unhandled (Suspend unhandled)
      when Identity.equal unhandled block ->
        None
  in
  match Identify.by_effect suspend with
  | Some who -> who
  | None -> unhandled request

let suspend_or block request =
  match Effect.perform (Suspend block) with
  | v -> v
  | exception Effect.Unhandled (Suspend unhandled_)
    when Identity.equal unhandled_ block ->
      unhandled request

let protect_or f request =
  match Effect.perform Protect with
  | unshield -> shielded f unshield
  | exception Effect.Unhandled Protect -> unhandled request

(* If one request comes back, then all do: else a handler further out would get a part of
   what a task does. Only a question is for whoever has an answer. *)
let perform (type a) (request : a request) : a =
  match request with
  | Question (question, otherwise) -> (
      match Effect.perform (Ask { question; otherwise }) with
      | v -> Some v
      | exception Effect.Unhandled (Ask _) -> Some otherwise)
  | _ when Plugin.comes_back () -> unhandled request
  | Wait block -> suspend_or block request
  | Reach release -> suspend_or (at_once release) request
  | Turn -> suspend_or (resume_at_once ()) request
  | Shield f -> protect_or f request
  | Fork _ -> scopes_or request ~unhandled
  | Who -> who_or request ~unhandled

(* Some plug-in's scheduler takes every effect: so nothing may be performed where
   such a scheduler could be the innermost one, or the one around it. Notes do not help
   here, as the end of a scheduler cannot be observed. *)
let carefully request =
  if Innermost.in_handler () then perform request
  else begin
    Innermost.forget ();
    match Innermost.find () with
    | Noted plugin | Found plugin ->
        if plugin.takes_every_effect || Plugin.may_be_taken () then
          by_first_of (plugin :: Plugin.takers ()) request ~otherwise:perform
        else perform request
    | Trigger trigger ->
        if Trigger.is_handler trigger || not (Plugin.may_be_taken ()) then
          perform request
        else by_trigger trigger request
    | Nobody -> by_first_of (Plugin.takers ()) request ~otherwise:perform
  end

(* --- For users of this module ---------------------------------------------- *)

let ask request =
  if Plugin.some_takes_every_effect () then carefully request
  else perform request

let[@inline never] suspend_unguarded block = ask (Wait block)

let suspend_guarded block =
  let waits_at = Printexc.get_callstack Leaks.max_frames in
  suspend_unguarded (fun resumer ->
      block (Leaks.guard (fun () -> waits_at) resumer))

(* A host that handles [Suspend] alone passes questions, and [Protect], to the scheduler
   around it, which may be one that takes every effect. Who waits is not worth that. *)
let who () =
  if Plugin.some_takes_every_effect () && Plugin.may_be_taken () then
    Identify.without_effects ()
  else ask Who

let some_end_tasks = Plugin.some_end_tasks
let watch_end = Plugin.watch_end

let suspend_unlisted block =
  if Leaks.is_on then suspend_guarded block else suspend_unguarded block

let[@inline never] suspend_with_care places block =
  if Waits.are_kept () || Tracing.is_on () then
    Noted.wait ~who:(who ()) (places ()) suspend_unlisted block
  else suspend_unlisted block

let[@inline] needs_care () = Plugin.needs_care ()
let[@inline] comes_back () = Plugin.comes_back ()

exception Elsewhere = Plugin.Elsewhere

(* [unhandled (Wait block)], without the request and what tells of the plug-in. The plug-in
   is called last: the stack of a task that waits has no frame of this. *)
let[@inline never] suspend_by_note block =
  let noted = Innermost.noted () in
  if noted < 0 then unhandled (Wait block)
  else (Plugin.all ()).(noted).suspend block

let[@inline never] suspend_elsewhere block =
  Innermost.forget ();
  unhandled (Wait block)

let[@inline never] suspend_unhandled block =
  match suspend_by_note block with
  | v -> v
  | exception Plugin.Elsewhere -> suspend_elsewhere block

(* [perform (Wait block)] without a call and without the request. *)
let[@inline] suspend_at_once block =
  if comes_back () then suspend_unhandled block
  else
    match Effect.perform (Suspend block) with
    | v -> v
    | exception Effect.Unhandled (Suspend unhandled)
      when Identity.equal unhandled block ->
        suspend_unhandled block

let nowhere () = []

let[@inline] suspend block =
  if needs_care () then suspend_with_care nowhere block
  else suspend_at_once block

let suspend_loop block =
  if Leaks.is_on then Leaks.of_loop block (fun () -> suspend_unguarded block)
  else suspend_unguarded block

let protect f = ask (Shield f)
let yield () = ask Turn
let scopes () = ask (Fork (ref ignore))
let question question ~otherwise = ask (Question (question, otherwise))

type _ Effect.t +=
  | Refusing : unit Effect.t
  | Refused_effects : exn option Effect.t

let misused message =
  match question Refused_effects ~otherwise:None with
  | Some (Some e) -> raise e
  | Some None | None -> invalid_arg message

(* Exceptions without arguments, so that they can be compared. *)
let last_refusal = Atomic.make Not_found
let is_refusal e = e == Atomic.get last_refusal

let refuse e =
  Atomic.set last_refusal e;
  (try Effect.perform (Ask { question = Refusing; otherwise = () })
   with Effect.Unhandled (Ask _) -> ());
  raise e

let probe passing = Probe.observe passing (fun release -> ask (Reach release))
