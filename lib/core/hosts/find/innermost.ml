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
   its thread is in it. The schedulers of this library are registered inside it, and end soon,
   so they must not stay. The second thread takes them out of the domain's record before that
   call, and registers them for their thread afterwards ([switch]). *)

(* [up] is [true] while the scheduler is known to be the innermost one of its thread. *)
type flag = { mutable up : bool; mutable asked : bool }

type mode =
  | Waiting  (** A scheduler was registered each time that this module asked. *)
  | Switching  (** Another thread is about to call [per_thread]. *)
  | Observed
  | Unobservable  (** Another library has called [per_thread]. *)

type note =
  | No_scheduler
  | Scheduler of { plugin : Plugin.t; here : Plugin.suspending }

(* A scheduler of this library that was registered while the mode was [Waiting]. The call of
   [Domain_local_await.using] is held by a continuation, so that any thread of the domain can
   let it return.

   [held]

   Left by  To                By whom
   enter    the continuation  the scheduler's thread, or the thread that switches
   leave    [None]            the same; it then continues the continuation *)
type registration = {
  of_thread : int;
  prepare : unit -> Domain_local_await.t;
  mutable was_asked : bool;
  held : (unit, unit) Effect.Deep.continuation option Atomic.t;
}

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
  mutable registered : registration list;
      (** Those that run now, the innermost one first. *)
  mutable switching : int;
      (** The thread that registers others' schedulers, or [none]. *)
  mutable on_behalf : int;  (** The thread for which it does so. *)
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
    registered = [];
    switching = none;
    on_behalf = none;
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
      (* unbroken *)
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
    type t = int

    let self () =
      let thread = this_thread () in
      if thread = t.switching then t.on_behalf
      else begin
        called_back t thread;
        thread
      end

    let id = Fun.id
  end in
  match Domain_local_await.per_thread (module Observed) with
  | () ->
      t.thread <- thread;
      t.beneath <- beneath;
      t.mode <- Observed
  | exception Failure _ -> t.mode <- Unobservable

(* --- Registering ------------------------------------------------------------ *)

type _ Effect.t += Hold : unit Effect.t

let enter r =
  let open Effect.Deep in
  let effc (type a) (e : a Effect.t) : ((a, unit) continuation -> unit) option =
    match e with
    | Hold ->
        Some
          (fun (k : (a, unit) continuation) ->
            match Atomic.set r.held (Some k) with
            | () -> ()
            | exception e -> discontinue k e)
    | _ -> None
  in
  let register () =
    Domain_local_await.using ~prepare_for_await:r.prepare
      ~while_running:(fun () -> Effect.perform Hold)
  in
  try_with register () { effc }

let leave r =
  match Atomic.exchange r.held None with
  | Some continuation -> Effect.Deep.continue continuation ()
  | None -> ()

(* A scheduler may end while another thread switches. So its thread first removes it from
   [t.registered], and then lets it leave. The other thread first lets it enter, and then looks
   whether it was removed. *)
let remove t r =
  t.registered <- List.filter (fun other -> other != r) t.registered;
  leave r

let enter_for t r =
  t.on_behalf <- r.of_thread;
  enter r;
  if not (List.memq r t.registered) then leave r

(* Lets the schedulers of this library leave the domain's record, so that the one around them
   stays in it. *)
let switch t ~thread ~beneath =
  let registered = t.registered in
  t.mode <- Switching;
  List.iter leave registered;
  observe t ~thread ~beneath;
  t.switching <- this_thread ();
  List.iter (enter_for t) (List.rev registered);
  t.switching <- none

(* Another thread of the domain may have done this before. *)
let observe_if_waiting t ~thread ~beneath =
  if t.mode == Waiting then
    Signals.while_blocked (fun _ ->
        if t.mode == Waiting then switch t ~thread ~beneath)

let observe_now t = observe_if_waiting t ~thread:(this_thread ()) ~beneath:none

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

let of_others t thread =
  List.exists (fun { of_thread; _ } -> of_thread <> thread) t.registered

(* Whether the innermost of the schedulers in [t.registered] is the one that is registered. *)
let is_registered t =
  match t.registered with
  | [] -> false
  | innermost :: _ ->
      innermost.was_asked <- false;
      ignore (Domain_local_await.prepare_for_await () : Domain_local_await.t);
      innermost.was_asked

(* The scheduler that is registered may be another thread's. Then the two threads have to be
   distinguished from now on. [is_inside] may suspend the calling task, and the task may
   continue on another domain. But the same scheduler is registered there.

   If a foreign scheduler runs inside one of this library's, in another thread, it can't be
   taken out of the domain's record. The threads are distinguished after it has ended. *)
let prepare_domain ~is_inside =
  let this = this_thread () and t = get () in
  if t.mode == Waiting && t.thread <> this then
    if of_others t this then
      begin if is_registered t then
        observe_if_waiting t ~thread:this ~beneath:unknown
      end
    else
      let trigger = Domain_local_await.prepare_for_await () in
      if no_scheduler trigger then observe_now t
      else if is_inside trigger then begin
        let t = get () in
        if t.mode == Waiting then t.thread <- this_thread ()
      end
      else observe_if_waiting t ~thread:this ~beneath:unknown

let rec await_switch t =
  if t.mode == Switching then begin
    Thread.yield ();
    await_switch t
  end

let using_held t ~prepare_for_await ~while_running =
  let rec r =
    {
      of_thread = this_thread ();
      prepare =
        (fun () ->
          r.was_asked <- true;
          prepare_for_await ());
      was_asked = false;
      held = Atomic.make None;
    }
  in
  let entered () =
    t.registered <- r :: t.registered;
    enter r;
    while_running ()
  in
  Backtrace.finally entered ~finally:(fun () -> remove t r)

let using ~is_inside ~prepare_for_await ~while_running =
  prepare_domain ~is_inside;
  let t = get () in
  await_switch t;
  match t.mode with
  | Waiting when of_others t (this_thread ()) ->
      (* It would be taken for the scheduler of the other thread. *)
      while_running ()
  | Waiting -> using_held t ~prepare_for_await ~while_running
  | Switching | Observed | Unobservable -> (
      (* It ends by [Fun.protect], which wraps exceptions. *)
      try Domain_local_await.using ~prepare_for_await ~while_running
      with Fun.Finally_raised e ->
        Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ()))
