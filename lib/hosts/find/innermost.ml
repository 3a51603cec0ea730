(* [Domain_local_await] keeps one scheduler for a domain, or one for each of its
   threads once [per_thread] was called there. Then it also calls the functions of
   the thread's identity that it was given, whenever a scheduler is registered and
   whenever a task asks: that is what is observed here.

   [per_thread] must be called while no scheduler is registered on the domain. If one
   is, then it stays registered for ever, for all threads that register no other; and
   when it ends, the one around it is restored in a record that is not read any more.
   For the main domain it is called when the program starts. OCaml has no hook that
   runs at the start of every domain; for the others it is called when they are first
   seen to have no scheduler, or, for want of anything better, when two threads are
   seen to run one: then the registered one stays as said, which is right while its
   thread is in it. *)

(* [up] while the scheduler is known to be the innermost one of its thread. *)
type flag = { mutable up : bool; mutable asked : bool }

type mode =
  | Waiting  (** Each time it was asked for, a scheduler was registered. *)
  | Observed
  | Unobservable  (** Another library has called [per_thread]. *)

type note =
  | No_scheduler
  | Scheduler of { plugin : Plugin.t; here : Plugin.suspending }

(* Only threads of the domain touch its record, and they switch at allocations and
   polls only. *)
type t = {
  mutable mode : mode;
  mutable flags : flag list;  (** Those that are up. *)
  mutable thread : int;
      (** While [Waiting] the thread, or [none], that was last seen to run a
          scheduler of ours inside of the one that is registered; else that from
          which the domain was first observed. What follows is about it, and
          touched only by it. *)
  mutable asking : bool;  (** The next call is due to our own question. *)
  mutable beneath : int;
      (** Of which plug-in are all schedulers registered for the thread, except
          the one that was registered last? Or [none], or [unknown]. *)
  mutable note : note option;  (** Of the innermost scheduler. *)
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

(* The library is initialised in a thread without scheduler: this is the trigger that
   [Domain_local_await] gives there. *)
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

(* For [t.thread]. *)
let ask_quietly t =
  t.asking <- true;
  match Domain_local_await.prepare_for_await () with
  | trigger -> trigger
  | exception e ->
      (* perhaps a signal handler's, before the call: then nothing was called back *)
      let backtrace = Printexc.get_raw_backtrace () in
      t.asking <- false;
      Printexc.raise_with_backtrace e backtrace

(* In [t.thread] a task asks, or a scheduler is being registered. In the second case
   the scheduler that has been the innermost is beneath the new one. *)
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
  (* Another thread of the domain may have done it before, and must not try
     meanwhile. *)
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

(* If the schedulers beneath were of another kind than the innermost one, then the
   note would be wrong as soon as the innermost one ends. *)
let note_plugin t i =
  if t.beneath = i || t.beneath = none then
    let plugin = (Plugin.all ()).(i) in
    note t (Scheduler { plugin; here = Plugin.on_this_domain plugin })

(* What is noted stays right: all schedulers that are registered for the thread, if any are,
   are of this plug-in, and before another one is, the note is dropped. *)
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

(* The scheduler that is registered may be that of another thread: then the two threads
   must be told apart from now on. To find out may suspend the calling task, and it may
   go on on another domain; but there the same scheduler is registered. *)
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
