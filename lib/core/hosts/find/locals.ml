open Concord_suspend

exception Elsewhere = Plugin.Elsewhere

type bindings = Bindings.t

type slot = {
  read : unit -> Bindings.t option;
  within : 'a. Bindings.t -> (unit -> 'a) -> 'a;
  kept : (unit -> Bindings.t option) option;
}

(* [around] is what a task begins with if its slot is empty. *)
type place = Slot of slot * Bindings.t | Stack of Bindings.t
type _ Effect.t += Where : place Effect.t

let nowhere = Stack Bindings.none
let in_slot slot = Slot (slot, Bindings.none)
let around bindings = Stack bindings

(* These lists only grow, and only while libraries are initialised. *)
let of_plugins : (Plugin.t * slot) list Atomic.t = Atomic.make []
let of_others : slot list Atomic.t = Atomic.make []

let add ?plugin slot =
  match plugin with
  | Some plugin -> Atomically.update of_plugins (List.cons (plugin, slot))
  | None -> Atomically.update of_others (List.cons slot)

(* Before the first key exists, no task has a binding. *)
let are_used = Atomic.make false

let create () =
  Atomic.set are_used true;
  Bindings.create_key ()

(* --- Where -------------------------------------------------------------------- *)

type found =
  | In_slot of { slot : slot; here : Bindings.t option; around : Bindings.t }
  | On_stack of Bindings.t

let rec first_of ~around = function
  | [] -> On_stack around
  | slot :: rest -> (
      match slot.read () with
      | here -> In_slot { slot; here; around }
      | exception Elsewhere -> first_of ~around rest)

let of_plugin plugin =
  Option.to_list (List.assq_opt plugin (Atomic.get of_plugins))

let slots_here () =
  match Innermost.find () with
  | Noted plugin | Found plugin -> of_plugin plugin
  | Trigger _ -> Atomic.get of_others
  | Nobody -> List.concat_map of_plugin (Plugin.unregistered ())

(* The answer may come from a handler around another scheduler's loop, in whose task the caller
   is. Then that scheduler's slot has precedence. A handler of this module is never inside of
   a task that has a slot. *)
let ask () =
  match Reach.question Where ~otherwise:nowhere with
  | Some (Slot (slot, around)) -> first_of ~around [ slot ]
  | Some (Stack around) -> first_of ~around (slots_here ())
  | None -> first_of ~around:Bindings.none (slots_here ())

(* If the innermost handler is a scheduler's that answers no question, an answer would come from
   further out. It is needed only if the slot is empty. *)
let find () =
  if not (Reach.comes_back ()) then ask ()
  else
    match first_of ~around:Bindings.none (slots_here ()) with
    | In_slot { here = Some _; _ } as found -> found
    | (In_slot _ | On_stack _) as found ->
        if Reach.nobody_answers () then found else ask ()

let[@inline never] here () =
  match find () with
  | In_slot { here = Some bindings; _ } -> bindings
  | In_slot { here = None; around; _ } | On_stack around -> around

let snapshot () = if Atomic.get are_used then here () else Bindings.none

(* The caller has a key, so keys are used. *)
let get key = Bindings.get key (here ())

let kept () =
  if Atomic.get are_used then
    match find () with
    | In_slot { slot = { kept = Some read; _ } as slot; around; _ } ->
        Some (Slot ({ slot with read }, around))
    | In_slot _ | On_stack _ -> None
  else None

(* --- Binding ------------------------------------------------------------------ *)

(* The handler is on the task's own stack, so it follows the task. It is never changed, because
   tasks of another scheduler may see it, whose loop runs inside. *)
let on_stack bindings f =
  let place = Stack bindings in
  let effc (type a) (e : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    match e with
    | Ask { question = Where; _ } ->
        Some (fun k -> Effect.Deep.continue k place)
    | _ -> None
  in
  Effect.Deep.try_with f () { effc }

(* If the slot is empty, the bindings have to be put there, even if they are those around. A host
   may start tasks that don't see what is around. *)
let with_snapshot bindings f =
  match find () with
  | On_stack here when here == bindings -> f ()
  | On_stack _ -> on_stack bindings f
  | In_slot { here = Some here; _ } when here == bindings -> f ()
  | In_slot { here = None; around; _ }
    when around == Bindings.none && bindings == Bindings.none ->
      f ()
  | In_slot { slot; _ } -> slot.within bindings f

(* --- Carrying ------------------------------------------------------------------ *)

(* The function may be called where another task's bindings are left. So it gets the caller's
   bindings even if there are none. *)
let[@inline never] carrying f =
  let bindings = here () in
  fun v -> with_snapshot bindings (fun () -> f v)

let carry f = if Atomic.get are_used then carrying f else f
