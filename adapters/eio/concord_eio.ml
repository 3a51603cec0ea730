open Private_interface
module Host_kit = Concord.Tools.Host_kit
module Decision = Host_kit.Decision
module Plugin = Concord.Private.Plugin
module Innermost_handler = Concord.Private.Innermost_handler
module Spin = Concord.Private.Spin
module Spinning = Concord.Private.Spinning
module Who = Concord.Private.Who
module Who_is = Concord.Private.Who_is

let name = "eio"

(* Wraps an exception of [block], because Eio raises it in the fiber without its backtrace. It
   also wraps an [Effect.Unhandled] that is the outcome of the wait, see [marked]. *)
exception Raised of exn * Printexc.raw_backtrace

(* If Eio handles the effect, it always runs [enter], and an outcome that looks like an
   unhandled effect is wrapped here. So if this exception arrives unwrapped, the effect itself
   was unhandled. A fiber need not remember which effect it has performed. *)
let[@inline] marked = function
  | Error (Effect.Unhandled (Effects.Suspend _) as e) ->
      Error (Raised (e, Printexc.get_raw_backtrace ()))
  | outcome -> outcome

(* A domain's experience with spinning, which all its loops share. *)
let spins = Domain.DLS.new_key Host_kit.Spin.create

(* Eio runs [enter] on the stack of its handler, outside of the fiber. If that is also the
   stack around the calling code, then no other handler is in between. So the fiber's innermost
   handler is Eio's own. *)
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

(* Eio's own waits emit this event too, so that eio-trace shows the fiber as suspended. *)
let[@inline] trace_wait () = Trace.suspend_fiber "Concord"

(* A resumer decides on any domain, and a cancellation decides on the fiber's own domain. The
   one that decides enqueues the fiber, once. If [cancel] refuses, the fiber was resumed
   already, and its resumer is about to be called with a value. *)
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
      (* Eio forgets this function before the fiber continues, so it need not be removed. *)
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

(* Other exceptions are raised again right where they are caught, because that keeps their
   backtrace at no cost. *)
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

(* A fiber spins by turns of its own loop, so that loop has to be the innermost one. *)
let check () =
  match Effect.perform Effects.Get_context with
  | fiber -> Option.iter raise (Fiber_context.get_error fiber)
  | exception Effect.Unhandled Effects.Get_context ->
      raise_notrace Host_kit.Elsewhere

(* This is not [Eio.Fiber.yield], because that reports a cancellation only when it returns. *)
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

(* The same as [suspend_now] in [Spin.sleeping], but with as little as possible on the stack. A
   new fiber has room for some 20 words, before its stack is copied to a larger one. *)
let[@inline never] sleep spin enter =
  Spin.fall_asleep spin;
  match perform enter with
  | v ->
      Spin.wake_up spin;
      v
  | exception e ->
      Spin.wake_up spin;
      if may_be_ours e then raise_ours e else raise e

(* The same as [Host_kit.spin_first], but with the short stack of [sleep]. *)
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

let fibers = Domain.DLS.new_key Who_is.tasks

(* The innermost loop of Eio answers [Get_context], so this is a fiber of that loop. *)
let who () =
  match Effect.perform Effects.Get_context with
  | fiber ->
      let number = (Fiber_context.tid fiber :> int) in
      Who_is.once (Domain.DLS.get fibers) number ~host:name
        ~name:(fun () -> Printf.sprintf "fiber %d" number)
        fiber
  | exception Effect.Unhandled Effects.Get_context ->
      raise_notrace Host_kit.Elsewhere

exception Stopped

(* The scopes of its own loop that a fiber is in. Scopes of a loop around it are not among them,
   because a loop doesn't see that loop's bindings. *)
let key : Eio.Switch.t list Eio.Fiber.key = Eio.Fiber.create_key ()

let scopes_of_fiber () =
  match Eio.Fiber.get key with
  | scopes -> Option.value scopes ~default:[]
  | exception Effect.Unhandled Effects.Get_context -> []

(* If the switch is off, Eio silently forks nothing. So [check] has to raise. *)
let fork sw scopes f =
  if not (List.memq sw (scopes_of_fiber ())) then
    invalid_arg "Scope.fork: the caller is not a task of the scope";
  Eio.Switch.check sw;
  Eio.Fiber.fork ~sw (fun () -> Eio.Fiber.with_binding key scopes f)

let stop sw =
  if Option.is_none (Eio.Switch.get_error sw) then Eio.Switch.fail sw Stopped

(* [Switch.run] raises [Stopped] only after [stop]. If the fiber is cancelled while it waits
   for the other fibers, [Switch.run] raises nothing, so [check] has to. *)
let run_switch body =
  let result = ref None in
  match Eio.Switch.run (fun sw -> result := Some (body sw)) with
  | () ->
      Eio.Fiber.check ();
      Option.get !result
  | exception Stopped when Option.is_some !result -> Option.get !result

let scope body =
  check ();
  run_switch @@ fun sw ->
  let scopes = sw :: scopes_of_fiber () in
  let fork f = fork sw scopes f and cancel () = stop sw in
  Eio.Fiber.with_binding key scopes (fun () ->
      body Concord.Tools.Suspend.{ fork; cancel })

(* Only the loop's own thread may use a switch. So another thread resumes a fiber, which
   cancels the others. The switch cancels this fiber too. *)
let expiring body =
  check ();
  run_switch @@ fun sw ->
  let resume = ref (fun _ -> false) in
  let block resumer =
    resume := resumer;
    None
  in
  let watch () =
    match suspend_now ~cancel:at_once block with
    | is_late -> if is_late then stop sw
    | exception _ -> ()
  in
  let ends is_late = ignore (!resume (Ok is_late) : bool) in
  Eio.Fiber.fork ~sw watch;
  let result =
    body
      Concord.Tools.Suspend.
        {
          fork = (fun _ -> assert false (* not called *));
          cancel = (fun () -> ends true);
        }
  in
  ends false;
  result

let switches = Concord.Tools.Suspend.{ scope }

let plugin =
  Host_kit.
    {
      name;
      sample = Some (Dla.prepare_for_await ());
      takes_every_effect = false;
      suspend;
      protect;
      scopes = Some switches;
    }

let () =
  Plugin.add ~who ~on_this_domain plugin;
  Concord.Scope.expires_by switches { scope = expiring };
  Concord.Tasks.cancels_by (function
    | Eio.Cancel.Cancelled _ -> true
    | _ -> false)

(* --- Values of a task ----------------------------------------------------- *)

module Locals = Concord.Private.Locals

let bindings : Locals.bindings Eio.Fiber.key = Eio.Fiber.create_key ()

let () =
  let read () =
    match Eio.Fiber.get bindings with
    | bindings -> bindings
    | exception Effect.Unhandled Effects.Get_context ->
        raise_notrace Host_kit.Elsewhere
  in
  Locals.add ~plugin
    {
      read;
      within = (fun values f -> Eio.Fiber.with_binding bindings values f);
      kept = None;
    }

(* --- Promises ------------------------------------------------------------- *)

let to_eio t =
  let promise, resolver = Eio.Promise.create () in
  Concord.Promise.on_resolve t (Eio.Promise.resolve resolver);
  promise

(* A fiber is forked for this, because only a fiber can wait for a promise of Eio. *)
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
      (* If the switch is off, Eio silently forks nothing. *)
      Eio.Switch.check sw;
      Eio.Fiber.fork_daemon ~sw wait);
  t

let of_eio ~sw promise = of_promise ~sw Concord.Promise.try_fill promise

let of_eio_exn ~sw promise =
  of_promise ~sw (fun t result -> Concord.Promise.try_resolve t result) promise

(* --- A loop on a domain of its own ------------------------------------------ *)

exception No_loop = Loop_domain.No_loop

type 'r loop = 'r Loop_domain.t

let call = Loop_domain.call
let with_domain = Loop_domain.with_domain
