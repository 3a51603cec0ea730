open Concord_suspend

let[@inline never] suspend_unguarded block = Request.ask Request.wait block

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
  if Observer.are_waits_told () then
    !Observer.it.wait (targets ()) suspend_unlisted block
  else suspend_unlisted block

let[@inline] comes_back () = Plugin.comes_back ()

exception Elsewhere = Plugin.Elsewhere

let[@inline never] wait_unhandled block = Request.unhandled Request.wait block

type noted = Plugin.suspending = {
  suspend : 'a. ('a resumer -> 'a option) -> 'a;
}

let nothing_noted = { suspend = (fun block -> wait_unhandled block) }

let[@inline never] noted () =
  match Innermost.noted () with
  | Some (Scheduler { here; _ }) -> here
  | Some No_scheduler | None -> nothing_noted

(* The same as [wait_unhandled], without a field that names the plug-in. *)
let[@inline never] suspend_unhandled block =
  match (noted ()).suspend block with
  | v -> v
  | exception Plugin.Elsewhere ->
      Innermost.forget ();
      wait_unhandled block

let by_search = { suspend = (fun block -> suspend_unhandled block) }

(* The same as [suspend_unguarded], without a call. Greedy schedulers take the slow path. *)
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

let protect f = Request.ask Request.shield f

(* Unlike a request, a question may go to any handler that has an answer. *)
let ask question otherwise =
  match Effect.perform (Ask { question; otherwise }) with
  | v -> Some v
  | exception Effect.Unhandled (Ask _) -> Some otherwise

let question question ~otherwise =
  if not (Greedy.exist ()) then ask question otherwise
  else
    match Greedy.way () with
    | Perform | Plugins [] -> ask question otherwise
    | Plugins (_ :: _) | Trigger _ -> None

let[@inline] nobody_answers () = Plugin.nobody_answers ()

type _ Effect.t +=
  | Refusing : unit Effect.t
  | Refused_effects : exn option Effect.t

let misused message =
  match question Refused_effects ~otherwise:None with
  | Some (Some e) -> raise e
  | Some None | None -> invalid_arg message

(* The exceptions have no arguments, so they can be compared by address. *)
let refused = Atomic.make (Not_found, Printexc.get_callstack 0, None)
let last_refusal () = Atomic.get refused
let is_refusal e = match last_refusal () with last, _, _ -> e == last

let name_refusal name =
  let e, stack, _ = last_refusal () in
  Atomic.set refused (e, stack, Some name)

let[@inline never] refuse e =
  Atomic.set refused (e, Printexc.get_callstack 64, None);
  (try Effect.perform (Ask { question = Refusing; otherwise = () })
   with Effect.Unhandled (Ask _) -> ());
  raise e
