module Host_kit = Concord.Tools.Host_kit
module Decision = Host_kit.Decision
module Trigger = Miou.Trigger

let name = "miou"

(* --- One wait ------------------------------------------------------------------- *)

(* [parked], an Atomic

   State    Left by  To  By whom
   nothing  park     r   the waiting task, which was cancelled in a shield. It then reads
                         [decision], and parks its thread until [r] is called
   r        never

   Debt: the code that has decided calls the function in [parked] after that. *)
type 'a wait = {
  decision : 'a Decision.t;
  parked : unit Concord.Tools.Suspend.resumer Atomic.t;
}

let nothing _ = false
let create () = { decision = Decision.create (); parked = Atomic.make nothing }
let outcome wait = Decision.outcome wait.decision

let unpark wait =
  ignore ((Atomic.get wait.parked) (Ok ()) : bool);
  true

let go_on = function Ok v -> v | Error e -> raise e

(* --- In a task that was cancelled ------------------------------------------------- *)

(* How long a cancelled task in a shield may block its thread. Meanwhile no other task of the
   domain runs, although one of these may be the one that would resume it. So a long wait can't
   be told from one that never ends, and needs a bound. Only here can a busy machine change an
   outcome. The task then raises its cancellation earlier than [protect] should let it.
   doc/miou.mld says so. *)
let max_parked = 1.

let park dying wait =
  (* This unparks even if the wait was decided, because the code that decided may not have
     reached that. *)
  let give_up () =
    let cancelled = Error (Dying.cause dying) in
    ignore (Decision.decide wait.decision cancelled : bool);
    ignore (unpark wait : bool)
  in
  let forget_timeout =
    try Concord.Private.Timer.after max_parked give_up
    with Unix.Unix_error _ | Sys_error _ ->
      give_up ();
      ignore
  in
  let block resumer =
    Atomic.set wait.parked resumer;
    if Decision.is_undecided (outcome wait) then None else Some ()
  in
  Concord.Private.Late.protect (fun () -> Host_kit.suspend_thread block);
  forget_timeout ();
  go_on (outcome wait)

(* Call it right after [Decision.offer], while the raw backtrace is that of its exception. *)
let offered = function
  | Ok v -> v
  | Error e -> Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ())

let wait_without_effects dying block =
  if not (Dying.is_shielded dying) then Dying.raise_cause dying
  else
    let wait = create () in
    let resumer outcome =
      Decision.decide wait.decision outcome && unpark wait
    in
    let outcome = Decision.offer wait.decision resumer block in
    if Decision.is_undecided outcome then park dying wait else offered outcome

(* --- In any other task -------------------------------------------------------------- *)

(* Performs the effect of a wait that is over already. A task whose trigger is signalled
   performs no effect. So the trigger is signalled when the effect was performed, before the
   loop reads it. *)
let signalled_on_its_way trigger =
  let effc (type a) (_ : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    Trigger.signal trigger;
    None
  in
  Effect.Deep.try_with Trigger.await trigger { effc }

(* Unbroken if the outcome is decided already. Then the next wait on this thread raises the
   exception. *)
let await station wait how trigger =
  let dying = Station.dying station in
  match Dying.performing dying (fun () -> how trigger) with
  | None -> ()
  | Some (e, backtrace) -> Dying.start dying e backtrace
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if e == Miou.Cancelled then Dying.start dying e backtrace
      else if Decision.decide wait.decision (Error e) then
        Printexc.raise_with_backtrace e backtrace
      else Station.keep station e backtrace

(* If an outcome was decided, the task gets it, even if the task was cancelled. *)
let await_decision station wait trigger =
  let dying = Station.dying station in
  await station wait Trigger.await trigger;
  if not (Dying.is_on dying) then go_on (outcome wait)
  else if Dying.is_shielded dying then park dying wait
  else if Decision.decide wait.decision (Error (Dying.cause dying)) then
    Dying.raise_cause dying
  else go_on (outcome wait)

let wait_in station block =
  Station.raise_kept station;
  let wait = create () and trigger = Trigger.create () in
  let resume = Station.resumer station wait.decision trigger in
  let resumer outcome =
    match resume outcome with
    | resumed -> resumed && Sys.opaque_identity (unpark wait)
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        ignore (unpark wait : bool);
        Printexc.raise_with_backtrace e backtrace
  in
  let outcome = Decision.offer wait.decision resumer block in
  if Decision.is_undecided outcome then await_decision station wait trigger
  else
    let backtrace = Printexc.get_raw_backtrace () in
    await station wait signalled_on_its_way trigger;
    match outcome with
    | Ok v -> v
    | Error e -> Printexc.raise_with_backtrace e backtrace

(* --- The plug-in --------------------------------------------------------------------- *)

(* [Domain.self] performs an effect. If that is handled, Miou's loop is around the caller. It
   raises if the task was cancelled. *)
let is_in_miou () =
  match Miou.Domain.self () with
  | (_ : Miou.Domain.Uid.t) -> true
  | exception Effect.Unhandled _ -> false

let elsewhere () =
  if is_in_miou () then
    invalid_arg
      "Concord_miou: to wait in tasks of Miou, run the program by \
       Concord_miou.run, not by Miou.run or Miou_unix.run"
  else raise_notrace Host_kit.Elsewhere

let enter dying =
  match Dying.performing dying Miou.Domain.self with
  | (_ : Miou.Domain.Uid.t) -> ()
  | exception Effect.Unhandled _ -> raise_notrace Host_kit.Elsewhere
  | exception e when e == Miou.Cancelled ->
      Dying.start dying e (Printexc.get_raw_backtrace ())

let suspend block =
  match Station.here () with
  | None -> elsewhere ()
  | Some station ->
      let dying = Station.dying station in
      if not (Dying.is_on dying) then enter dying;
      if Dying.is_on dying then wait_without_effects dying block
      else wait_in station block

let here () =
  match Station.here () with
  | Some station -> station
  | None -> raise_notrace Host_kit.Elsewhere

let protect f = Dying.shielded (Station.dying (here ())) f

(* Miou has no operation that says which task is running. *)
let who () =
  ignore (here () : Station.t);
  Host_kit.Who.unknown name

let plugin =
  Host_kit.
    {
      name;
      sample = None;
      takes_every_effect = true;
      suspend;
      protect;
      scopes = None;
    }

(* A task may be cancelled at an effect of Miou's own, which is not seen here. Such a task has
   got [Miou.Cancelled] in a later turn of the loop than that of the first call. *)
let watch_end () =
  match Station.here () with
  | None -> Fun.const false
  | Some station ->
      let dying = Station.dying station in
      let turn = Dying.turn dying in
      fun e -> e == Miou.Cancelled && Dying.turn dying <> turn

(* --- Values of a task ------------------------------------------------------------------ *)

module Locals = Concord.Private.Locals

(* Miou has no values of a task, and takes every effect, so no handler can be asked. But a handler
   sees each effect of its task. While another task runs, this one's values are taken out of the
   domain's cell. A task of Miou stays on its domain. *)
let cell : Locals.bindings option ref Domain.DLS.key =
  Domain.DLS.new_key (fun () -> ref None)

let read () =
  ignore (here () : Station.t);
  !(Domain.DLS.get cell)

let within values f =
  let open Effect.Deep in
  let cell = Domain.DLS.get cell in
  let before = !cell in
  let effc (type a) (e : a Effect.t) : ((a, _) continuation -> _) option =
    Some
      (fun k ->
        cell := before;
        match Effect.perform e with
        | v ->
            cell := Some values;
            continue k v
        | exception e ->
            let backtrace = Printexc.get_raw_backtrace () in
            cell := Some values;
            discontinue_with_backtrace k e backtrace)
  and retc v =
    cell := before;
    v
  and exnc e =
    let backtrace = Printexc.get_raw_backtrace () in
    cell := before;
    Printexc.raise_with_backtrace e backtrace
  in
  cell := Some values;
  match_with f () { retc; exnc; effc }

let () =
  Host_kit.plug_in ~who plugin;
  Concord.Tasks.cancels_by (fun e -> e == Miou.Cancelled);
  Locals.add ~plugin Locals.{ read; within; kept = None };
  Concord.Private.Plugin.add_end_of_task watch_end

let run ?g ?domains f =
  if not (Domain.is_main_domain ()) then
    invalid_arg "Concord_miou.run: Miou runs in the main domain only";
  Host_kit.using_plugin plugin (fun () -> Station.run ?g ?domains f)

(* --- Miou's computations --------------------------------------------------------------- *)

let resolve _ computation promise =
  match Miou.Computation.peek computation with
  | Some (Ok v) -> ignore (Concord.Promise.try_fill promise v : bool)
  | Some (Error (e, backtrace)) ->
      ignore (Concord.Promise.try_fail ~backtrace promise e : bool)
  | None -> ()

let of_computation computation =
  let promise = Concord.Promise.create () and trigger = Trigger.create () in
  ignore (Trigger.on_signal trigger computation promise resolve : bool);
  if not (Miou.Computation.try_attach computation trigger) then
    resolve trigger computation promise;
  promise
