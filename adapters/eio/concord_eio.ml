open Eio.Private
module Host_kit = Concord.Host_kit
module Decision = Host_kit.Decision
module Spin = Host_kit.Spin
module Innermost_handler = Host_kit.Innermost_handler

let name = "eio"

(* How far a suspension came. What [block] raised is raised in the fiber by Eio, which
   keeps no backtrace. *)
type progress = Performed | Entered | Raised of Printexc.raw_backtrace

(* [enter] runs outside of the fiber, on the stack around that of the handler: so the
   innermost handler of the fiber is Eio's own if that is the stack around the fiber's. *)
let learning enter =
  if Host_kit.knows_handler () then enter
  else
    let handler = Innermost_handler.get ()
    and around = Innermost_handler.around () in
    fun fiber enqueue ->
      if Innermost_handler.here () = around then Host_kit.passes_suspend handler;
      enter fiber enqueue

(* The private effect of Eio's fibers, performed as Eio does. Eio's own waits tell it too:
   eio-trace shows the fiber as suspended. *)
let[@inline] perform enter =
  Trace.suspend_fiber "Concord";
  Effect.perform (Effects.Suspend (learning enter))

(* A resumer decides on any
   domain, and cancelling on the fiber's own; the one that decides enqueues the fiber,
   once. What resumes the fiber if [cancel] refuses has no exception for it. *)
let enter (type a) ~cancel progress
    (block : a Concord.Suspend.resumer -> a option) fiber
    (enqueue : a Effects.enqueue) =
  progress := Entered;
  match Fiber_context.get_error fiber with
  | Some e when cancel e -> enqueue (Error e)
  | Some _ | None ->
      let decision = Decision.create () in
      let decide outcome =
        (match outcome with Ok _ -> true | Error e -> cancel e)
        && Decision.decide decision outcome
        && begin
          enqueue outcome;
          true
        end
      in
      (* Eio forgets this function before the fiber goes on. *)
      let cancelled = Host_kit.weakly decide in
      Fiber_context.set_cancel_fn fiber (fun e ->
          ignore (cancelled (Error e) : bool));
      let outcome = Decision.offer decision decide block in
      if not (Decision.is_undecided outcome) then begin
        if Result.is_error outcome then
          progress := Raised (Printexc.get_raw_backtrace ());
        enqueue outcome
      end

(* [e] as it is caught. *)
let[@inline never] raised progress e =
  let backtrace = Printexc.get_raw_backtrace () in
  match (progress, e) with
  | Raised backtrace, _ -> Printexc.raise_with_backtrace e backtrace
  | Performed, Effect.Unhandled (Effects.Suspend _) ->
      raise_notrace Host_kit.Elsewhere
  | (Performed | Entered), _ -> Printexc.raise_with_backtrace e backtrace

let suspend_now ~cancel block =
  let progress = ref Performed in
  match perform (enter ~cancel progress block) with
  | v -> v
  | exception e -> raised !progress e

(* A fiber looks in its own loop: is that the innermost one? *)
let check () =
  match Effect.perform Effects.Get_context with
  | fiber -> Option.iter raise (Fiber_context.get_error fiber)
  | exception Effect.Unhandled Effects.Get_context ->
      raise_notrace Host_kit.Elsewhere

(* [Eio.Fiber.yield] tells only when it returns that the fiber is cancelled. *)
let turn cancel =
  let enter fiber (enqueue : unit Effects.enqueue) =
    let cancelled e = ignore (cancel e : bool) in
    Fiber_context.set_cancel_fn fiber cancelled;
    Option.iter cancelled (Fiber_context.get_error fiber);
    enqueue (Ok ())
  in
  perform enter

let looking = Host_kit.{ check; turn; suspend = suspend_now }
let spins = Domain.DLS.new_key Spin.create
let at_once (_ : exn) = true

(* [Host_kit.look_first], with as little as can be on the stack of a fiber that does not
   look: that has some 20 words before it grows. *)
let suspend block =
  let spin = Domain.DLS.get spins in
  match Host_kit.begin_look spin with
  | 0 -> (
      Spin.fall_asleep spin;
      let progress = ref Performed in
      match perform (enter ~cancel:at_once progress block) with
      | v ->
          Spin.wake_up spin;
          v
      | exception e ->
          Spin.wake_up spin;
          raised !progress e)
  | turns -> Host_kit.look_for spin looking turns block

let protect f =
  match Effect.perform Effects.Get_context with
  | (_ : Fiber_context.t) -> Eio.Cancel.protect f
  | exception Effect.Unhandled Effects.Get_context ->
      raise_notrace Host_kit.Elsewhere

(* [Get_context] is answered by the innermost loop of Eio. *)
let who () =
  match Effect.perform Effects.Get_context with
  | fiber ->
      let number = (Fiber_context.tid fiber :> int) in
      Host_kit.Who.make ~host:name
        ~name:(Printf.sprintf "fiber %d" number)
        fiber
  | exception Effect.Unhandled Effects.Get_context ->
      raise_notrace Host_kit.Elsewhere

exception Stopped

(* The scopes that a fiber is in, of its own loop: a loop does not see the bindings of
   the loop around it. *)
let key : Eio.Switch.t list Eio.Fiber.key = Eio.Fiber.create_key ()

let scopes_of_fiber () =
  match Eio.Fiber.get key with
  | scopes -> Option.value scopes ~default:[]
  | exception Effect.Unhandled Effects.Get_context -> []

(* Eio forks no fiber from a switch that is off, and does not say so. *)
let fork sw scopes f =
  if not (List.memq sw (scopes_of_fiber ())) then
    invalid_arg "Scope.fork: the caller is not a task of the scope";
  Eio.Switch.check sw;
  Eio.Fiber.fork ~sw (fun () -> Eio.Fiber.with_binding key scopes f)

(* [Switch.run] raises [Stopped] only after [cancel], and nothing if the fiber is
   cancelled while it waits for others. *)
let scope body =
  let result = ref None in
  let run sw =
    let scopes = sw :: scopes_of_fiber () in
    let fork f = fork sw scopes f
    and cancel () =
      if Option.is_none (Eio.Switch.get_error sw) then
        Eio.Switch.fail sw Stopped
    in
    result :=
      Some
        (Eio.Fiber.with_binding key scopes (fun () ->
             body Concord.Suspend.{ fork; cancel }))
  in
  match Eio.Switch.run run with
  | () ->
      Eio.Fiber.check ();
      Option.get !result
  | exception Stopped when Option.is_some !result -> Option.get !result

let () =
  Host_kit.plug_in ~who
    {
      name;
      sample = Some (Eio_utils.Dla.prepare_for_await ());
      takes_every_effect = false;
      suspend;
      protect;
      scopes = Some { scope };
    }

(* --- Promises ------------------------------------------------------------- *)

let to_eio t =
  let promise, resolver = Eio.Promise.create () in
  Concord.Promise.on_resolve t (Eio.Promise.resolve resolver);
  promise

(* Only a fiber can wait for a promise of Eio. *)
let of_promise ~sw resolve promise =
  let t = Concord.Promise.create () in
  let wait () =
    match Eio.Promise.await promise with
    | outcome ->
        ignore (resolve t outcome : bool);
        `Stop_daemon
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        ignore (Concord.Promise.try_fail ~backtrace t e : bool);
        Printexc.raise_with_backtrace e backtrace
  in
  (match Eio.Promise.peek promise with
  | Some outcome -> ignore (resolve t outcome : bool)
  | None ->
      (* a switch that is off forks nothing, and does not say so *)
      Eio.Switch.check sw;
      Eio.Fiber.fork_daemon ~sw wait);
  t

let of_eio ~sw promise = of_promise ~sw Concord.Promise.try_fill promise

let of_eio_exn ~sw promise =
  of_promise ~sw (fun t result -> Concord.Promise.try_resolve t result) promise
