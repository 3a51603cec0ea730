type 'a resumer = ('a, exn) result -> bool
type _ Effect.t += Suspend : ('a resumer -> 'a option) -> 'a Effect.t
type _ Effect.t += Protect : (unit -> unit) Effect.t

type scope = Plugin.scope = {
  fork : (unit -> unit) -> unit;
  cancel : unit -> unit;
}

type scopes = Plugin.scopes = { scope : 'a. (scope -> 'a) -> 'a }
type _ Effect.t += Scopes : scopes Effect.t

exception Elsewhere = Plugin.Elsewhere

type plugin = Plugin.t = {
  name : string;
  sample : Domain_local_await.t option;
  takes_every_effect : bool;
  suspend : 'a. ('a resumer -> 'a option) -> 'a;
  protect : 'a. (unit -> 'a) -> 'a;
  scopes : scopes option;
}

(* --- Schedulers that handle [Suspend], for users of Domain_local_await ----- *)

(* [up] while it is known that this scheduler is the innermost one: others put it
   down only. [asked] when [prepare] was called. *)
type using = Innermost.flag = { mutable up : bool; mutable asked : bool }

(* [state], for one use of [await]

   State       Left by   To          By whom
   Init        await     Waiting r   the waiting task, in [block]
               release   Released    anyone
   Waiting r   release   Released    anyone; it then calls [r]
   Released    never (terminal) *)
type trigger = Init | Waiting of unit resumer | Released

(* This is owed. A signal handler may raise before the resumer has decided. *)
let resume resumer =
  match resumer (Ok ()) with
  | (_ : bool) -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      ignore (resumer (Ok ()) : bool);
      Printexc.raise_with_backtrace e backtrace

let[@inline never] trigger ~suspend () =
  let state = Atomic.make Init in
  let release () =
    match Atomic.exchange state Released with
    | Waiting resumer -> resume resumer
    | Init | Released -> ()
  and await () =
    if Atomic.get state != Released then
      let block resumer =
        if Atomic.compare_and_set state Init (Waiting resumer) then None
        else (* released meanwhile *) Some ()
      in
      suspend block
  in
  Domain_local_await.{ release; await }

(* [outside]: not in a task, but in a C callback, a finaliser, a signal handler. *)
let prepare t outside () =
  t.asked <- true;
  trigger () ~suspend:(fun block ->
      match Effect.perform (Suspend block) with
      | () -> ()
      | exception Effect.Unhandled (Suspend unhandled)
        when Physical.equal unhandled block ->
          outside block)

let prepare_by plugin () =
  trigger () ~suspend:(fun block ->
      match plugin.suspend block with
      | () -> ()
      | exception Elsewhere -> Park.suspend_thread block)

(* Of a scheduler that handles [Suspend], and is registered. *)
let is_handler =
  let sample = prepare { up = false; asked = false } ignore () in
  fun (trigger : Domain_local_await.t) ->
    Physical.same_code trigger.await sample.await

(* --- What the library asks of a host --------------------------------------- *)

type host = Suspends | Parks

(* [Reach]: to be called when the effect of the suspension is on its way.
   [Question]: [None] if it may not be performed, or that is not known. *)
type _ request =
  | Wait : ('a resumer -> 'a option) -> 'a request
  | Shield : (unit -> 'a) -> 'a request
  | Reach : (unit -> unit) ref -> host request
  | Question : 'a Effect.t * 'a -> 'a option request
  | Fork : (unit -> unit) ref -> scopes option request

(* A closure of its own for each request: [Lazy] looks for the very effect. *)
let at_once (_ : (unit -> unit) ref) _ = Some ()

(* A trigger that was released does not perform its effect any more; so it is
   released when the effect is on its way. One that performs none, but blocks the
   thread, is released by a timeout. *)
let await_at_once trigger ~release =
  let performed = ref false in
  (release :=
     fun () ->
       performed := true;
       Park.release trigger);
  let forget_timeout =
    try Timer.after 0.01 (fun () -> Park.release trigger)
    with Unix.Unix_error _ | Sys_error _ -> ignore
  in
  Fun.protect ~finally:forget_timeout @@ fun () ->
  match trigger.await () with
  | () -> if !performed then `Suspended else `Blocked
  | exception Effect.Unhandled _ -> `Unhandled

let reach_by trigger ~release =
  match await_at_once trigger ~release with
  | `Suspended -> Suspends
  | `Blocked | `Unhandled -> Parks

type reaching = { reaching : 'b. 'b Effect.t -> unit }

(* [f release], with all its effects seen to pass. *)
let observing { reaching } f =
  let release = ref ignore in
  let effc (type b) (effect_ : b Effect.t) :
      ((b, _) Effect.Deep.continuation -> _) option =
    !release ();
    reaching effect_;
    None
  in
  Effect.Deep.try_with f release { effc }

(* Where a scheduler may take every effect, no other one's may be performed. Outside
   of tasks the triggers of ours suspend the thread. *)
let is_inside trigger =
  let reached =
    if Plugin.may_be_taken () then `Suspended
    else if is_handler trigger then
      match Effect.perform (Suspend (at_once (ref ignore))) with
      | () -> `Suspended
      | exception Effect.Unhandled (Suspend _) -> `Unhandled
    else
      observing { reaching = ignore } (fun release ->
          await_at_once trigger ~release)
  in
  match reached with `Suspended | `Blocked -> true | `Unhandled -> false

let by_plugin (type a) (plugin : plugin) (request : a request) : a =
  match request with
  | Wait block -> plugin.suspend block
  | Shield f -> plugin.protect f
  | Reach release ->
      plugin.suspend (at_once release);
      Suspends
  | Question _ -> None
  | Fork release ->
      (* raises, if it is elsewhere *)
      if Option.is_some plugin.scopes then plugin.suspend (at_once release);
      plugin.scopes

let by_trigger (type a) trigger (request : a request) : a =
  match request with
  | Wait block -> Park.suspend trigger block
  | Shield f ->
      (* a host without cancellation, or one that does not tell *) f ()
  | Reach release -> reach_by trigger ~release
  | Question _ -> None
  | Fork _ -> None

let by_thread (type a) (request : a request) : a =
  match request with
  | Wait block -> Park.suspend_thread block
  | Shield f -> Park.protect_thread f
  | Reach _ -> Parks
  | Question _ -> None
  | Fork _ -> None

let rec by_first_of plugins request ~otherwise =
  match plugins with
  | [] -> otherwise request
  | plugin :: rest -> (
      match by_plugin plugin request with
      | v -> v
      | exception Elsewhere -> by_first_of rest request ~otherwise)

(* The effect of the request was not handled: so the innermost scheduler is one of
   those that do not know it. One that is registered may be the innermost; one that
   is not can only be asked whether it is there, and answers too if another one runs
   in its task.

   A plug-in that finds itself elsewhere was noted before its scheduler was left,
   which cannot be observed; or it was found, but its scheduler runs in another
   thread of the domain, or below a callback from C, which no effect can pass. *)
let rec unhandled : type a. a request -> a =
 fun request ->
  match Innermost.find () with
  | Noted plugin -> (
      match by_plugin plugin request with
      | v -> v
      | exception Elsewhere ->
          Innermost.forget ();
          unhandled request)
  | Found plugin -> (
      match by_plugin plugin request with
      | v -> v
      | exception Elsewhere ->
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
      when Physical.equal unhandled_ block ->
        unhandled request
    | around -> (
        match (perform_scopes (), around) with
        | Some scopes, Some others when scopes == others -> None
        | scopes, _ -> scopes)

let perform (type a) (request : a request) : a =
  match request with
  | Wait block -> (
      match Effect.perform (Suspend block) with
      | v -> v
      | exception Effect.Unhandled (Suspend unhandled_)
        when Physical.equal unhandled_ block ->
          unhandled request)
  | Shield f -> (
      match Effect.perform Protect with
      | unshield -> shielded f unshield
      | exception Effect.Unhandled Protect -> unhandled request)
  | Reach release -> (
      let block = at_once release in
      match Effect.perform (Suspend block) with
      | () -> Suspends
      | exception Effect.Unhandled (Suspend unhandled_)
        when Physical.equal unhandled_ block ->
          unhandled request)
  | Question (question, otherwise) -> (
      match Effect.perform (Forcing.Ask { question; otherwise }) with
      | v -> Some v
      | exception Effect.Unhandled (Forcing.Ask _) -> Some otherwise)
  | Fork _ -> scopes_or request ~unhandled

(* Some plug-in's scheduler takes every effect: so nothing may be performed where
   that could be the innermost one, or the one around it. Notes do not help here, as
   that a scheduler was left cannot be observed. *)
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
        if is_handler trigger || not (Plugin.may_be_taken ()) then
          perform request
        else by_trigger trigger request
    | Nobody -> by_first_of (Plugin.takers ()) request ~otherwise:perform
  end

(* --- Suspending ------------------------------------------------------------ *)

(* Here and below, if nobody takes every effect: as [perform (Wait block)], without
   a call. *)
let suspend block =
  if Plugin.some_takes_every_effect () then carefully (Wait block)
  else
    match Effect.perform (Suspend block) with
    | v -> v
    | exception Effect.Unhandled (Suspend unhandled_)
      when Physical.equal unhandled_ block ->
        unhandled (Wait block)

(* --- Waiting in a structure ----------------------------------------------- *)

type ('x, 'a) waiter = ('x, 'a) Waiter.t = {
  arg : 'x;
  choice : Waiter.choice;
  mutable resume : ('a, exn) result -> bool;
}

type ('t, 'x, 'a) operation = {
  attempt : 't -> 'x -> 'a option;
  enlist : 't -> ('x, 'a) waiter -> bool;
  withdraw : 't -> ('x, 'a) waiter -> unit;
}

let rec attempt_or_enlist operation t w resumer =
  (* [attempt] may raise: then there is nothing to withdraw *)
  Waiter.leave w;
  match operation.attempt t w.arg with
  | Some _ as got -> got
  | None ->
      (* somebody was faster *)
      w.resume <- resumer;
      if operation.enlist t w then None
      else attempt_or_enlist operation t w resumer

let withdraw operation t w =
  if Waiter.is_live w then begin
    Waiter.leave w;
    operation.withdraw t w
  end

let withdraw_and_raise operation t w e =
  let backtrace = Printexc.get_raw_backtrace () in
  withdraw operation t w;
  Printexc.raise_with_backtrace e backtrace

let[@inline] block operation t w resumer =
  w.resume <- resumer;
  if operation.enlist t w then None else attempt_or_enlist operation t w resumer

let wait operation t arg =
  let w = Waiter.make arg in
  let block resumer = block operation t w resumer in
  if Plugin.some_takes_every_effect () then
    try carefully (Wait block) with e -> withdraw_and_raise operation t w e
  else
    match Effect.perform (Suspend block) with
    | v -> v
    | exception Effect.Unhandled (Suspend unhandled_)
      when Physical.equal unhandled_ block -> (
        try unhandled (Wait block)
        with e -> withdraw_and_raise operation t w e)
    | exception e -> withdraw_and_raise operation t w e

(* --- Protecting, and reaching the host ------------------------------------- *)

let protect f =
  if Plugin.some_takes_every_effect () then carefully (Shield f)
  else
    match Effect.perform Protect with
    | unshield -> shielded f unshield
    | exception Effect.Unhandled Protect -> unhandled (Shield f)

let ask request =
  if Plugin.some_takes_every_effect () then carefully request
  else perform request

let scopes_of_host () = ask (Fork (ref ignore))

let reach_host reaching =
  observing reaching (fun release -> ask (Reach release))

let is_cancelled () =
  match reach_host { reaching = ignore } with
  | Suspends | Parks -> false
  | exception _ -> true

(* --- For hosts ------------------------------------------------------------- *)

module Host = struct
  type nonrec scope = scope = {
    fork : (unit -> unit) -> unit;
    cancel : unit -> unit;
  }

  type nonrec scopes = scopes = { scope : 'a. (scope -> 'a) -> 'a }
  type _ Effect.t += Protect = Protect | Ask = Forcing.Ask | Scopes = Scopes

  exception Elsewhere = Elsewhere

  type nonrec plugin = plugin = {
    name : string;
    sample : Domain_local_await.t option;
    takes_every_effect : bool;
    suspend : 'a. ('a resumer -> 'a option) -> 'a;
    protect : 'a. (unit -> 'a) -> 'a;
    scopes : scopes option;
  }

  let ask question ~otherwise =
    if Plugin.some_takes_every_effect () then
      carefully (Question (question, otherwise))
    else
      match Effect.perform (Ask { question; otherwise }) with
      | v -> Some v
      | exception Effect.Unhandled (Ask _) -> Some otherwise

  let scopes = scopes_of_host
  let plug_in = Plugin.add

  let using_plugin plugin loop =
    Innermost.prepare_domain ~is_inside;
    Fun.protect ~finally:Innermost.forget @@ fun () ->
    Domain_local_await.using
      ~prepare_for_await:(fun () -> Plugin.of_loop (prepare_by plugin ()))
      ~while_running:(fun () -> Plugin.running plugin loop)

  type t = using

  let create () = { up = false; asked = false }

  let using ?(outside = Park.suspend_thread) t loop =
    Innermost.prepare_domain ~is_inside;
    Domain_local_await.using ~prepare_for_await:(prepare t outside)
      ~while_running:(fun () ->
        (* A flag that was put up on the domain that the loop has left would not go
           down for what happens on this one. *)
        t.up <- false;
        Innermost.raise_flag t;
        Innermost.handling t loop)

  let refuse e =
    Forcing.refuse ();
    raise e

  (* A scheduler was registered, or somebody prepared to wait: ask who would be
     asked. *)
  let[@inline never] look t =
    t.asked <- false;
    match Innermost.ask () with
    | exception _ ->
        (* of a foreign scheduler, or of a signal handler *) t.asked
    | (_ : Domain_local_await.t) ->
        if t.asked then Innermost.raise_flag t;
        t.asked

  let[@inline] is_innermost t = t.up || look t
end
