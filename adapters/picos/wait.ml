open Picos
module Host_kit = Concord.Tools.Host_kit
module Decision = Host_kit.Decision

(* A resumer decides, and then signals the trigger that the fiber awaits. A cancellation of the
   fiber does the same. So the outcome is decided when the fiber is cancelled, and not only
   when the fiber runs again. *)

(* Unbroken, because a resumer calls it. Signalling twice does no harm. *)
let signal trigger =
  match Trigger.signal trigger with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Trigger.signal trigger;
      Printexc.raise_with_backtrace e backtrace

let resume decision trigger outcome =
  Decision.decide decision outcome
  && begin
    signal trigger;
    true
  end

(* A computation also signals when it returns, and then there is no exception. *)
let give_up _ resumer computation =
  match Computation.canceled computation with
  | Some (e, _) -> ignore (resumer (Error e) : bool)
  | None -> ()

let[@alert "-handler"] canceler resumer computation =
  Trigger.from_action (Host_kit.weakly resumer) computation give_up

(* The code that cancels the computation calls the resumer. *)
let attach_canceler computation resumer =
  let canceler = canceler resumer computation in
  if Computation.try_attach computation canceler then Some canceler
  else begin
    give_up canceler resumer computation;
    None
  end

(* The scheduler need not notice that the fiber is cancelled, because the canceler calls the
   resumer. *)
let await_forbidding fiber trigger =
  let await () = ignore (Trigger.await trigger : (exn * _) option) in
  Fiber.forbid fiber await

(* Performs the effect of a wait that ends at once. [Yield] won't do, because it is a constant,
   and a handler can't tell its calls apart. Awaiting a signalled trigger performs no effect.
   So this trigger is signalled when its effect was performed. *)
let touch () =
  let trigger = Trigger.create () in
  let effc (type a) (e : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    (match e with Trigger.Await _ -> Trigger.signal trigger | _ -> ());
    None
  in
  ignore
    (Effect.Deep.try_with Trigger.await trigger { effc } : (exn * _) option)

(* The backtrace of the fiber's cancellation, if that is [e]. *)
let cancelled_at fiber e =
  match Fiber.canceled fiber with
  | Some (cancellation, backtrace) when cancellation == e -> Some backtrace
  | Some _ | None -> None

let raise_in fiber e =
  match cancelled_at fiber e with
  | Some backtrace -> Printexc.raise_with_backtrace e backtrace
  | None -> raise e

let go_on fiber = function Ok v -> v | Error e -> raise_in fiber e

(* The code that cancels the computation calls the resumer. If [told], other code does that, and
   signals the trigger. *)
let await fiber trigger resumer ~told =
  if told || Fiber.has_forbidden fiber then await_forbidding fiber trigger
  else begin
    let (Packed computation) = Fiber.get_computation fiber in
    let canceler = attach_canceler computation resumer in
    await_forbidding fiber trigger;
    Option.iter (Computation.detach computation) canceler
  end

(* If [told], the cancellation of the fiber is decided elsewhere, not here. *)
let sleep fiber trigger ~told block =
  let decision = Decision.create () in
  let resumer outcome = resume decision trigger outcome in
  match Decision.offer decision resumer block with
  | Ok v ->
      touch ();
      v
  | Error e as outcome when not (Decision.is_undecided outcome) ->
      let backtrace = Printexc.get_raw_backtrace () in
      touch ();
      Printexc.raise_with_backtrace e backtrace
  | Error _ ->
      if Decision.is_undecided (Decision.outcome decision) then
        await fiber trigger resumer ~told
      else
        (* The fiber was resumed in [block]. The others that were resumed run first. *)
        Fiber.forbid fiber Fiber.yield;
      let outcome = Decision.outcome decision in
      if Decision.is_undecided outcome then Fiber.check fiber;
      go_on fiber outcome
