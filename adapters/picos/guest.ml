open Picos
open Effect.Deep
module Control = Picos_std_structured.Control
module Host_kit = Concord.Tools.Host_kit
module Suspend = Concord.Tools.Suspend

(* A scheduler of one fiber, which runs in a task of another host and sleeps by suspending that
   task. It runs the fiber inside of [Host_kit.using]. Any operation that may suspend the task
   runs outside of that. *)
type t = { host : Host_kit.t; fiber : Fiber.t; group : group }

(* The fibers of one [as_fiber]. *)
and group = {
  scope : Concord.Scope.t;  (** The scope of the tasks in which they run. *)
  root : unit Computation.t;  (** The computation of the first fiber. *)
  cancellation : (exn * Printexc.raw_backtrace) option Atomic.t;
      (** The first exception by which the host cancelled one of the tasks. *)
}

type 'r step =
  | Ended of 'r
  | Performs : {
      perform : unit -> 'a;
      continuation : ('a, 'r step) continuation;
    }
      -> 'r step

(* --- The effects of the fiber ------------------------------------------------ *)

(* An exception that the host raises where a task waits is the host's cancellation. The fibers
   get the cancellation of Picos instead, because bundles don't take that for a failure. In the
   end, [run] raises the host's. *)
let cancelled_by_host t e backtrace =
  let cancellation = Some (e, backtrace) in
  ignore (Atomic.compare_and_set t.group.cancellation None cancellation : bool);
  Computation.cancel t.group.root Control.Terminate backtrace

(* If the fiber forbids its cancellation, the cancellation of its task is deferred too. *)
let if_forbidden_protect t f =
  if Fiber.has_forbidden t.fiber then Suspend.protect f else f ()

(* [bell] is an Atomic. The task sets it in [block], and then reads the trigger. The code that
   signals the trigger reads the bell after that. So one of the two sees what the other has
   written, and no wake-up is lost. *)
let ring _ bell () =
  match Atomic.get bell with
  | Some resumer -> ignore (resumer (Ok ()) : bool)
  | None -> ()

let sleep t trigger bell =
  let block resumer =
    Atomic.set bell (Some resumer);
    if Trigger.is_signaled trigger then Some () else None
  in
  if_forbidden_protect t (fun () -> Suspend.suspend block)

let await t trigger =
  let fiber = t.fiber and bell = Atomic.make None in
  if not (Fiber.try_suspend fiber trigger bell () ring) then
    Fiber.canceled fiber
  else
    match sleep t trigger bell with
    | () ->
        ignore (Fiber.unsuspend fiber trigger : bool);
        Fiber.canceled fiber
    | exception e -> (
        let backtrace = Printexc.get_raw_backtrace () in
        cancelled_by_host t e backtrace;
        Trigger.signal trigger;
        ignore (Fiber.unsuspend fiber trigger : bool);
        match Fiber.canceled fiber with
        | Some _ as cancelled -> cancelled
        | None -> Some (Control.Terminate, backtrace))

(* Runs [f ()]. If that raises, it is the host's cancellation, and the fiber gets Picos's
   instead. *)
let or_terminate t f =
  match f () with
  | v -> v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      cancelled_by_host t e backtrace;
      Fiber.check t.fiber;
      Printexc.raise_with_backtrace Control.Terminate backtrace

(* The outcome of the wait is a value, so that an exception in it can't be confused with the
   host's cancellation. *)
type 'a outcome =
  | Value of 'a
  | Raises of exn
  | Raised of exn * Printexc.raw_backtrace

(* The [block] for the host. It makes outcomes of the resumer's results, and calls the resumer
   if the fiber is cancelled. *)
let outcome_of block canceler computation resumer =
  let told = function Ok v -> Value v | Error e -> Raises e in
  let prepare outcome = Ok (told outcome) in
  let resumer outcome =
    Sys.opaque_identity (Host_kit.Decision.insist prepare resumer outcome)
  in
  match block resumer with
  | Some v -> Some (Value v)
  | None ->
      canceler := Wait.attach_canceler computation resumer;
      None
  | exception e -> Some (Raised (e, Printexc.get_raw_backtrace ()))

let suspend t block =
  let fiber = t.fiber in
  if Fiber.has_forbidden fiber then
    Suspend.protect (fun () -> Suspend.suspend block)
  else begin
    Fiber.check fiber;
    let (Packed computation) = Fiber.get_computation fiber in
    let canceler = ref None in
    let finally () = Option.iter (Computation.detach computation) !canceler in
    let outcome =
      Fun.protect ~finally (fun () ->
          or_terminate t (fun () ->
              Suspend.suspend (outcome_of block canceler computation)))
    in
    match outcome with
    | Value v -> v
    | Raises e -> Wait.raise_in fiber e
    | Raised (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  end

let yield t =
  Fiber.check t.fiber;
  or_terminate t (fun () -> if_forbidden_protect t Concord.Tasks.yield)

let[@alert "-handler"] cancel_after t computation ~seconds e backtrace =
  Fiber.check t.fiber;
  let forget =
    Concord.Private.Timer.after seconds (fun () ->
        Computation.cancel computation e backtrace)
  in
  let forgetter =
    Trigger.from_action forget () (fun _ forget () -> forget ())
  in
  if not (Computation.try_attach computation forgetter) then forget ()

(* --- Running ---------------------------------------------------------------- *)

(* [using] may raise the task's cancellation before it calls [next], because the task may be on
   another domain than before. Then the fiber is cancelled, and [next] is called all the same. *)
let enter t next =
  let begun = ref false in
  let next () =
    begun := true;
    next ()
  in
  match Host_kit.using t.host next with
  | step -> step
  | exception e when not !begun ->
      cancelled_by_host t e (Printexc.get_raw_backtrace ());
      Suspend.protect (fun () -> Host_kit.using t.host next)

let rec drive t = function
  | Ended v -> v
  | Performs { perform; continuation } ->
      drive t
        (match perform () with
        | v -> enter t (fun () -> continue continuation v)
        | exception e ->
            let backtrace = Printexc.get_raw_backtrace () in
            enter t (fun () ->
                discontinue_with_backtrace continuation e backtrace))

let rec run : type r. t -> (Fiber.t -> r) -> r =
 fun t main ->
  let scopes = Suspend.{ scope = (fun body -> Scope.open_ t.fiber body) } in
  let who () = Fibers.who t.fiber in
  let performs perform =
    Some (fun continuation -> Performs { perform; continuation })
  in
  let answer v = Some (fun continuation -> continue continuation v) in
  let handle (type a) (e : a Effect.t) :
      ((a, r step) continuation -> r step) option =
    match e with
    | Fiber.Current -> answer t.fiber
    | Fiber.Spawn { fiber; main } -> performs (fun () -> spawn t fiber main)
    | Fiber.Yield -> performs (fun () -> yield t)
    | Trigger.Await trigger -> performs (fun () -> await t trigger)
    | Computation.Cancel_after { seconds; exn; bt; computation } ->
        performs (fun () -> cancel_after t computation ~seconds exn bt)
    | Suspend.Suspend block -> performs (fun () -> suspend t block)
    | Suspend.Protect ->
        let forbid = Fiber.exchange t.fiber ~forbid:true in
        answer (fun () -> Fiber.set t.fiber ~forbid)
    | Suspend.Scopes -> answer scopes
    | Suspend.Ask { question = Concord.Private.Locals.Where; _ } ->
        answer (Concord.Private.Locals.in_slot Fibers.slot)
    | Suspend.Ask { question; otherwise } ->
        answer (Host_kit.Who.answer question ~otherwise who)
    | e -> performs (fun () -> Effect.perform e)
  in
  (* The effect comes from a task of another scheduler inside the fiber, which did not handle
     it. So it stays unhandled. *)
  let refuse (type a) (e : a Effect.t) :
      ((a, r step) continuation -> r step) option =
    match e with
    | Fiber.Current | Fiber.Spawn _ | Fiber.Yield | Trigger.Await _
    | Computation.Cancel_after _ | Suspend.Suspend _ | Suspend.Protect
    | Suspend.Scopes ->
        Some (fun continuation -> discontinue continuation (Effect.Unhandled e))
    | Suspend.Ask { otherwise; _ } -> answer otherwise
    | _ -> None
  in
  let effc (type a) (e : a Effect.t) =
    if Host_kit.is_innermost t.host then handle e else refuse e
  in
  let handler = { retc = (fun v -> Ended v); exnc = raise; effc } in
  match drive t (enter t (fun () -> match_with main t.fiber handler)) with
  | v -> v
  | exception (Control.Terminate as e) -> (
      let backtrace = Printexc.get_raw_backtrace () in
      match Atomic.get t.group.cancellation with
      | Some (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
      | None -> Printexc.raise_with_backtrace e backtrace)

(* A scope calls each function that it forks, even if it is cancelled. *)
and spawn : t -> Fiber.t -> (Fiber.t -> unit) -> unit =
 fun t fiber main ->
  Fiber.check t.fiber;
  let child = { t with host = Host_kit.create (); fiber } in
  let fork () = Concord.Scope.fork t.group.scope (fun () -> run child main) in
  match if_forbidden_protect t fork with
  | () -> ()
  | exception (Invalid_argument _ as e) -> raise e
  | exception e -> or_terminate t (fun () -> raise e)

let as_fiber f =
  let f = Concord.Private.Locals.carry f in
  Concord.Scope.run @@ fun scope ->
  let root = Computation.create ~mode:`LIFO () in
  let fiber = Fiber.create ~forbid:false root in
  let group = { scope; root; cancellation = Atomic.make None } in
  run { host = Host_kit.create (); fiber; group } (fun _ -> f ())
