open Private_interface
module Host_kit = Concord.Tools.Host_kit
module Decision = Host_kit.Decision
module Plugin = Concord.Private.Plugin
module Innermost_handler = Concord.Private.Innermost_handler
module Spin = Concord.Private.Spin
module Spinning = Concord.Private.Spinning
module Who = Concord.Private.Who

let name = "eio"

(* What [block] raised, because Eio, which raises it in the fiber, keeps no backtrace; or an
   exception of another wait that looks as if the effect had come back. *)
exception Raised of exn * Printexc.raw_backtrace

(* Eio always runs [enter] where it handles the effect. So the effect has come back exactly
   if this exception is not wrapped: no fiber has to keep what it has performed. *)
let[@inline] marked = function
  | Error (Effect.Unhandled (Effects.Suspend _) as e) ->
      Error (Raised (e, Printexc.get_raw_backtrace ()))
  | outcome -> outcome

(* What a domain has learned about looking, for all its loops. *)
let spins = Domain.DLS.new_key Host_kit.Spin.create

(* [enter] runs outside of the fiber, on the stack around that of the handler: so the
   innermost handler of the fiber is Eio's own if that is the stack around the fiber's. *)
let[@inline never] learning enter =
  let handler = Innermost_handler.get ()
  and around = Innermost_handler.around () in
  fun fiber enqueue ->
    if Innermost_handler.here () = around then Plugin.passes_suspend handler;
    enter fiber enqueue

let[@inline] known enter =
  if Plugin.knows_handler () then enter else learning enter

(* The private effect of Eio's fibers. *)
let[@inline] perform enter = Effect.perform (Effects.Suspend enter)

(* Eio's own waits tell it too: eio-trace shows the fiber as suspended. *)
let[@inline] trace_wait () = Trace.suspend_fiber "Concord"

(* A resumer decides on any
   domain, and cancelling on the fiber's own; the one that decides enqueues the fiber,
   once. What resumes the fiber if [cancel] refuses has no exception for it. *)
let enter (type a) ~cancel (block : a Concord.Tools.Suspend.resumer -> a option)
    fiber (enqueue : a Effects.enqueue) =
  match Fiber_context.get_error fiber with
  | Some e when cancel e -> enqueue (marked (Error e))
  | Some _ | None -> (
      let decision = Decision.create () in
      let decide outcome =
        (match outcome with Ok _ -> true | Error e -> cancel e)
        && Decision.decide decision outcome
        && begin
          enqueue (marked outcome);
          true
        end
      in
      (* Eio forgets this function before the fiber goes on. *)
      let cancelled = Host_kit.weakly decide in
      Fiber_context.set_cancel_fn fiber (fun e ->
          ignore (cancelled (Error e) : bool));
      let outcome = Decision.offer decision decide block in
      if not (Decision.is_undecided outcome) then
        match outcome with
        | Ok _ -> enqueue outcome
        | Error e -> enqueue (Error (Raised (e, Printexc.get_raw_backtrace ())))
      )

let[@inline never] raise_ours = function
  | Raised (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | Effect.Unhandled (Effects.Suspend _) -> raise_notrace Host_kit.Elsewhere
  | e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Printexc.raise_with_backtrace e backtrace

(* Any other exception is raised again where it is caught, which keeps its backtrace and
   costs nothing. *)
let[@inline] may_be_ours = function
  | Raised _ | Effect.Unhandled (Effects.Suspend _) -> true
  | _ -> false

let suspend_now ~cancel block =
  trace_wait ();
  match
    perform (known (fun fiber enqueue -> enter ~cancel block fiber enqueue))
  with
  | v -> v
  | exception e -> if may_be_ours e then raise_ours e else raise e

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
  trace_wait ();
  perform (known enter)

let looking = Host_kit.{ check; turn; suspend = suspend_now }
let at_once (_ : exn) = true

(* [suspend_now] in [Spin.sleeping], with as little as can be on the stack: a new fiber has
   some 20 words before that is copied into a larger one. *)
let[@inline never] sleep spin enter =
  Spin.fall_asleep spin;
  match perform enter with
  | v ->
      Spin.wake_up spin;
      v
  | exception e ->
      Spin.wake_up spin;
      if may_be_ours e then raise_ours e else raise e

(* [Host_kit.spin_first]. *)
let suspend_by spin block =
  match Spinning.begin_turns spin with
  | 0 ->
      trace_wait ();
      sleep spin
        (known (fun fiber enqueue -> enter ~cancel:at_once block fiber enqueue))
  | turns -> Spinning.suspend_spinning spin looking turns block

let suspend block = suspend_by (Domain.DLS.get spins) block

let on_this_domain () =
  let spin = Domain.DLS.get spins in
  Plugin.{ suspend = (fun block -> suspend_by spin block) }

let protect f =
  match Effect.perform Effects.Get_context with
  | (_ : Fiber_context.t) -> Eio.Cancel.protect f
  | exception Effect.Unhandled Effects.Get_context ->
      raise_notrace Host_kit.Elsewhere

let fibers = Domain.DLS.new_key Who.tasks

(* [Get_context] is answered by the innermost loop of Eio. *)
let who () =
  match Effect.perform Effects.Get_context with
  | fiber ->
      let number = (Fiber_context.tid fiber :> int) in
      Who.once (Domain.DLS.get fibers) number ~host:name
        ~name:(fun () -> Printf.sprintf "fiber %d" number)
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
             body Concord.Tools.Suspend.{ fork; cancel }))
  in
  match Eio.Switch.run run with
  | () ->
      Eio.Fiber.check ();
      Option.get !result
  | exception Stopped when Option.is_some !result -> Option.get !result

let () =
  Plugin.add ~who ~on_this_domain
    {
      name;
      sample = Some (Dla.prepare_for_await ());
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
