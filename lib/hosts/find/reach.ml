open Concord_suspend
open Request

type host = Request.host = Suspends | Parks

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

(* A host that handles only [Suspend] passes other effects on. So an answer to [Scopes] may
   come from the host around it, whose tasks would not be tasks of this host. [block] runs
   outside the host, so it finds the answer of the host around it. If both answers are the
   same, this host has none. *)
let scopes_or request ~unhandled =
  let block _ = Some (Greedy.outside perform_scopes) in
  match Effect.perform (Suspend block) with
  | exception Effect.Unhandled (Suspend unhandled_)
    when Identity.equal unhandled_ block ->
      unhandled request
  | around -> (
      match (perform_scopes (), around) with
      | Some scopes, Some others when scopes == others -> None
      | scopes, _ -> scopes)

(* The suspension is protected, because the caller may hold a structure that other tasks wait
   for. *)
let shield_if_handled f =
  match Effect.perform Protect with
  | unshield -> shielded f unshield
  | exception Effect.Unhandled Protect -> f ()

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

(* If one request comes back without a handler, all do. Otherwise a handler further out would
   get some effects of a task and not others. Only a question may go to any handler that has an
   answer. *)
let perform (type a) (request : a Request.t) : a =
  match request with
  | Question (question, otherwise) -> (
      match Effect.perform (Ask { question; otherwise }) with
      | v -> Some v
      | exception Effect.Unhandled (Ask _) -> Some otherwise)
  | _ when Plugin.comes_back () -> unhandled request
  | Wait block -> suspend_or block request
  | Reach release -> suspend_or (at_once release) request
  | Turn _ -> suspend_or (resume_at_once ()) request
  | Shield f -> protect_or f request
  | Fork _ -> scopes_or request ~unhandled
  | Seek { by_effect; _ } -> by_effect ~otherwise:(fun () -> unhandled request)

let ask_past_greedy_ones request =
  match Greedy.way () with
  | Perform -> perform request
  | Plugins plugins -> by_first_of plugins request ~otherwise:perform
  | Trigger trigger -> by_trigger trigger request

(* --- For users of this module ---------------------------------------------- *)

let ask request =
  if Greedy.exist () then ask_past_greedy_ones request else perform request

let[@inline never] suspend_unguarded block = ask (Wait block)

let suspend_guarded block =
  let waits_at = Printexc.get_callstack Leaks.max_frames in
  suspend_unguarded (fun resumer ->
      block (Leaks.guard (fun () -> waits_at) resumer))

let some_end_tasks = Plugin.some_end_tasks
let watch_end = Plugin.watch_end

let suspend_unlisted block =
  if Observer.finds_leaks () then suspend_guarded block
  else suspend_unguarded block

let[@inline never] suspend_slowly targets block =
  if Observer.are_kept () || Observer.is_traced () then
    !Observer.it.wait (targets ()) suspend_unlisted block
  else suspend_unlisted block

let[@inline] comes_back () = Plugin.comes_back ()

exception Elsewhere = Plugin.Elsewhere

let[@inline never] wait_unhandled block = unhandled (Wait block)

type noted = Plugin.suspending = {
  suspend : 'a. ('a resumer -> 'a option) -> 'a;
}

let nothing_noted = { suspend = (fun block -> wait_unhandled block) }

let[@inline never] noted () =
  match Innermost.noted () with
  | Some (Scheduler { here; _ }) -> here
  | Some No_scheduler | None -> nothing_noted

(* The same as [wait_unhandled], without allocating the request, and without a field that names
   the plug-in. *)
let[@inline never] suspend_unhandled block =
  match (noted ()).suspend block with
  | v -> v
  | exception Plugin.Elsewhere ->
      Innermost.forget ();
      wait_unhandled block

let by_search = { suspend = (fun block -> suspend_unhandled block) }

(* The same as [perform (Wait block)], without a call and without allocating the request. *)
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
  if Observer.takes_slow_path () then suspend_slowly nowhere block
  else suspend_at_once block

let suspend_loop block =
  if Observer.finds_leaks () then
    Leaks.of_loop block (fun () -> suspend_unguarded block)
  else suspend_unguarded block

let protect f = ask (Shield f)
let yield () = ask (Turn Thread.yield)
let let_host_run () = ask (Turn ignore)
let scopes () = ask (Fork (ref ignore))
let seek how = ask (Seek how)
let question question ~otherwise = ask (Question (question, otherwise))
let[@inline] nobody_answers () = Plugin.nobody_answers ()

type _ Effect.t +=
  | Refusing : unit Effect.t
  | Refused_effects : exn option Effect.t

let misused message =
  match question Refused_effects ~otherwise:None with
  | Some (Some e) -> raise e
  | Some None | None -> invalid_arg message

(* The exceptions have no arguments, so they can be compared by address. *)
let last_refusal = Atomic.make Not_found
let is_refusal e = e == Atomic.get last_refusal

let refuse e =
  Atomic.set last_refusal e;
  (try Effect.perform (Ask { question = Refusing; otherwise = () })
   with Effect.Unhandled (Ask _) -> ());
  raise e

(* The other threads are counted after [block], because [block] may set a timeout. A thread
   that could wake the task may have done so and ended by then. So the task is refused as if it
   were cancelled. If it was resumed before, that comes too late, and changes nothing. *)
let park_or_refuse e block =
  let block resumer =
    let given = block resumer in
    if Option.is_none given && not (Others.may_wake ~asleep:0) then
      ignore (resumer (Error e) : bool);
    given
  in
  match Park.suspend_thread block with
  | v -> v
  | exception refused when refused == e -> refuse e

let probe passing = Probe.observe passing (fun release -> ask (Reach release))

let has_host () =
  match probe { passing = ignore } with
  | Suspends -> true
  | Parks -> false
  | exception _ -> (* the host's cancellation, so there is a host *) true

let may_be_woken ~asleep = Others.may_wake ~asleep || has_host ()
