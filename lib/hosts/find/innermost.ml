(* [Domain_local_await] keeps one scheduler for each domain. After a call of [per_thread] on a
   domain, it keeps one for each of its threads. [per_thread] also takes functions that
   identify a thread. They are called whenever a scheduler is registered, and whenever a task
   asks. This module observes these calls.

   [per_thread] must be called while no scheduler is registered on the domain. Otherwise the
   one that is registered stays so forever, for all threads that register no other. When it
   ends, [Domain_local_await] restores the scheduler around it in a record that is no longer
   read.

   On the main domain, [per_thread] is called when the program starts. OCaml has no hook that
   runs at the start of every domain. So another domain calls it when it is first seen to have
   no scheduler. It also calls it when two of its threads are seen to run a scheduler, because
   there is no better moment. Then the registered one stays as described, which is right while
   its thread is in it. *)

(* [up] is [true] while the scheduler is known to be the innermost one of its thread. *)
type flag = { mutable up : bool; mutable asked : bool }

type mode =
  | Waiting  (** A scheduler was registered each time that this module asked. *)
  | Observed
  | Unobservable  (** Another library has called [per_thread]. *)

type note =
  | No_scheduler
  | Scheduler of { plugin : Plugin.t; here : Plugin.suspending }

(* Only threads of the domain use its record, and OCaml switches between them only at
   allocations and polls. *)
type t = {
  mutable mode : mode;
  mutable flags : flag list;  (** The flags that are up. *)
  mutable thread : int;
      (** While the mode is [Waiting], this is the thread that was last seen to
          run a scheduler of ours inside the one that is registered, or [none].
          Afterwards, it is the thread in which the domain was first observed.
          The fields below are about this thread, and only this thread uses
          them. *)
  mutable asking : bool;
      (** [true] if the next call back is caused by this module's own question.
      *)
  mutable beneath : int;
      (** The plug-in to which all schedulers belong that are registered for the
          thread, except the one that was registered last. It may be [none] or
          [unknown]. *)
  mutable note : note option;
      (** The current note on the innermost scheduler. *)
}

let none = -1
let unknown = -2
let this_thread () = Thread.id (Thread.self ())

let create () =
  {
    mode = Waiting;
    flags = [];
    thread = none;
    asking = false;
    beneath = unknown;
    note = None;
  }

let records = Domain.DLS.new_key create
let[@inline] get () = Domain.DLS.get records

(* The library is initialised in a thread without a scheduler. So this is the trigger that
   [Domain_local_await] gives to such threads. *)
let default = Domain_local_await.prepare_for_await ()

let[@inline] no_scheduler (trigger : Domain_local_await.t) =
  Identity.same_code trigger.await default.await

let which trigger =
  if no_scheduler trigger then none
  else match Plugin.recognise trigger with Some i -> i | None -> unknown

(* --- Observing -------------------------------------------------------------- *)

let put_down_flags t =
  match t.flags with
  | [] -> ()
  | flags ->
      t.flags <- [];
      List.iter (fun flag -> flag.up <- false) flags

(* Called only in [t.thread]. *)
let ask_quietly t =
  t.asking <- true;
  match Domain_local_await.prepare_for_await () with
  | trigger -> trigger
  | exception e ->
      (* It may be a signal handler's exception, raised before the question. Then there was no
         call back. *)
      let backtrace = Printexc.get_raw_backtrace () in
      t.asking <- false;
      Printexc.raise_with_backtrace e backtrace

(* Called when a task asks in [t.thread], or when a scheduler is being registered there. In the
   second case, the scheduler that was the innermost one so far is beneath the new one. *)
let look_beneath t =
  let before = t.beneath in
  t.beneath <- unknown;
  if Array.length (Plugin.all ()) > 0 then begin
    let innermost = which (ask_quietly t) in
    if innermost = none || before = none || before = innermost then
      t.beneath <- innermost
  end

let called_back t thread =
  put_down_flags t;
  if thread = t.thread then begin
    t.note <- None;
    if t.asking then t.asking <- false else look_beneath t
  end

let observe t ~thread ~beneath =
  let module Observed = struct
    type nonrec t = Thread.t

    let self () =
      let thread = Thread.self () in
      called_back t (Thread.id thread);
      thread

    let id = Thread.id
  end in
  (* Another thread of the domain may have done this before. While this one does it, no other
     thread must try. *)
  if t.mode == Waiting then begin
    t.mode <- Unobservable;
    match Domain_local_await.per_thread (module Observed) with
    | () ->
        t.thread <- thread;
        t.beneath <- beneath;
        t.mode <- Observed
    | exception Failure _ -> ()
  end

let observe_now t = observe t ~thread:(this_thread ()) ~beneath:none

(* --- Asking ----------------------------------------------------------------- *)

type found =
  | Nobody
  | Noted of Plugin.t
  | Found of Plugin.t
  | Trigger of Domain_local_await.t

let ask_for t =
  if t.mode == Observed && this_thread () = t.thread then ask_quietly t
  else Domain_local_await.prepare_for_await ()

let ask () = ask_for (get ())

let note t noted =
  if t.mode == Observed && this_thread () = t.thread then t.note <- Some noted

(* If the schedulers beneath belonged to another plug-in than the innermost one, the note would
   be wrong as soon as the innermost one ends. *)
let note_plugin t i =
  if t.beneath = i || t.beneath = none then
    let plugin = (Plugin.all ()).(i) in
    note t (Scheduler { plugin; here = Plugin.on_this_domain plugin })

(* A note stays right. All schedulers that are registered for the thread belong to this
   plug-in, and the note is dropped before a scheduler of another kind is registered. *)
let noted () =
  let t = get () in
  match t.note with
  | Some _ as noted when this_thread () = t.thread -> noted
  | Some _ | None -> None

let find () =
  match noted () with
  | Some (Scheduler { plugin; _ }) -> Noted plugin
  | Some No_scheduler -> Nobody
  | None ->
      let t = get () in
      let trigger = ask_for t in
      let i = which trigger in
      if t.mode == Waiting && i = none then observe_now t;
      if i >= 0 then begin
        note_plugin t i;
        Found (Plugin.all ()).(i)
      end
      else if i = unknown then Trigger trigger
      else begin
        note t No_scheduler;
        Nobody
      end

let () = ignore (find () : found)
let forget () = (get ()).note <- None

(* --- Schedulers that handle the effect --------------------------------------- *)

let raise_flag flag =
  let t = get () in
  if t.mode == Observed && not flag.up then begin
    flag.up <- true;
    t.flags <- flag :: t.flags
  end

(* The scheduler that is registered may be another thread's. Then the two threads have to be
   distinguished from now on. [is_inside] may suspend the calling task, and the task may
   continue on another domain. But the same scheduler is registered there. *)
let prepare_domain ~is_inside =
  let this = this_thread () and t = get () in
  if t.mode == Waiting && t.thread <> this then begin
    let trigger = Domain_local_await.prepare_for_await () in
    if no_scheduler trigger then observe_now t
    else if is_inside trigger then begin
      let t = get () in
      if t.mode == Waiting then t.thread <- this_thread ()
    end
    else observe t ~thread:this ~beneath:unknown
  end
