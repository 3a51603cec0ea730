open Picos
module Host_kit = Concord.Host_kit
module Decision = Host_kit.Decision
module Look = Concord__Look

let name = "picos"

let current () =
  match Fiber.current () with
  | fiber -> fiber
  | exception Effect.Unhandled Fiber.Current -> raise_notrace Host_kit.Elsewhere

(* --- One wait ------------------------------------------------------------- *)

(* A resumer decides, and then signals the trigger that the fiber awaits. Cancelling
   the fiber does the same: so it is decided when the fiber is cancelled, and not only
   when it has its turn. *)

(* What a signal handler raises may have come too early; to signal twice does no harm. *)
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

(* Computations that return signal too. *)
let give_up _ resumer computation =
  match Computation.canceled computation with
  | Some (e, _) -> ignore (resumer (Error e) : bool)
  | None -> ()

let[@alert "-handler"] canceler resumer computation =
  Trigger.from_action (Host_kit.weakly resumer) computation give_up

(* Whoever cancels the computation calls the resumer. *)
let attach_canceler computation resumer =
  let canceler = canceler resumer computation in
  if Computation.try_attach computation canceler then Some canceler
  else begin
    give_up canceler resumer computation;
    None
  end

(* The scheduler need not see that the fiber is cancelled: the resumer is called. *)
let await_forbidding fiber trigger =
  let await () = ignore (Trigger.await trigger : (exn * _) option) in
  Fiber.forbid fiber await

(* The effect of a wait that ends at once: [Yield], of a turn, is a constant. A trigger that
   was signalled before performs no effect: so this one is signalled when its effect is on
   its way. *)
let touch () =
  let trigger = Trigger.create () in
  let effc (type a) (e : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    (match e with Trigger.Await _ -> Trigger.signal trigger | _ -> ());
    None
  in
  ignore
    (Effect.Deep.try_with Trigger.await trigger { effc } : (exn * _) option)

(* If [e] is the fiber's cancellation, then from where it came. *)
let cancelled_at fiber e =
  match Fiber.canceled fiber with
  | Some (cancellation, backtrace) when cancellation == e -> Some backtrace
  | Some _ | None -> None

let raise_in fiber e =
  match cancelled_at fiber e with
  | Some backtrace -> Printexc.raise_with_backtrace e backtrace
  | None -> raise e

let go_on fiber = function Ok v -> v | Error e -> raise_in fiber e

(* Whoever cancels the computation calls the resumer; or signals the trigger himself, if
   [told]. *)
let await fiber trigger resumer ~told =
  if told || Fiber.has_forbidden fiber then await_forbidding fiber trigger
  else begin
    let (Packed computation) = Fiber.get_computation fiber in
    let canceler = attach_canceler computation resumer in
    await_forbidding fiber trigger;
    Option.iter (Computation.detach computation) canceler
  end

(* [told]: then the outcome of a fiber that is cancelled is not decided here. *)
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
      else (* resumed in [block]: the others go on first *)
        Fiber.forbid fiber Fiber.yield;
      let outcome = Decision.outcome decision in
      if Decision.is_undecided outcome then Fiber.check fiber;
      go_on fiber outcome

(* --- Looking ------------------------------------------------------------------ *)

(* What [block] answered. *)
type answer = None_yet | Wait | Value | Exception

(* How far a fiber came that looks before it sleeps. From its first turn on its computation
   knows [canceler], until the wait is over. *)
type look = {
  fiber : Fiber.t;
  trigger : Trigger.t;
      (** For its sleep. The canceler signals it, too: the fiber may be about to
          sleep. *)
  mutable answer : answer;
  mutable canceler : Trigger.t option;
  mutable cancel : unit Concord.Suspend.resumer;
      (** What the canceler calls, and does not keep alive itself. *)
}

let refuse _ = false

let attach look cancel =
  let (Packed computation) = Fiber.get_computation look.fiber in
  look.cancel <-
    (function
    | Ok () -> false
    | Error e ->
        cancel e
        && begin
          signal look.trigger;
          true
        end);
  look.canceler <- attach_canceler computation look.cancel

let detach look =
  let detach canceler =
    let (Packed computation) = Fiber.get_computation look.fiber in
    Computation.detach computation canceler
  in
  Option.iter detach look.canceler

let turn look cancel =
  if Option.is_none look.canceler && not (Fiber.has_forbidden look.fiber) then
    attach look cancel;
  Fiber.forbid look.fiber Fiber.yield

let noting look block resumer =
  match block resumer with
  | Some _ as answer ->
      look.answer <- Value;
      answer
  | None ->
      look.answer <- Wait;
      None
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      look.answer <- Exception;
      Printexc.raise_with_backtrace e backtrace

let looking look =
  Host_kit.
    {
      check = ignore;
      turn = (fun cancel -> turn look cancel);
      (* The canceler has asked [cancel], or asks nobody. *)
      suspend =
        (fun ~cancel:_ block ->
          let told = Option.is_some look.canceler in
          sleep look.fiber look.trigger ~told block);
    }

let suspend_looking fiber spin turns block =
  let look =
    {
      fiber;
      trigger = Trigger.create ();
      answer = None_yet;
      canceler = None;
      cancel = refuse;
    }
  in
  match Look.suspend_looking spin (looking look) turns (noting look block) with
  | v ->
      detach look;
      if look.answer = Value then touch ();
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      detach look;
      if look.answer = Exception then touch ();
      let told = if look.answer = Wait then cancelled_at fiber e else None in
      Printexc.raise_with_backtrace e (Option.value told ~default:backtrace)

let spins = Domain.DLS.new_key Host_kit.Spin.create

(* As [Host_kit.look_first], which would make all that a look needs for each wait. *)
let suspend block =
  let fiber = current () in
  Fiber.check fiber;
  Concord__Park.raise_kept ();
  let spin = Domain.DLS.get spins in
  match Host_kit.Spin.begin_turns spin with
  | 0 ->
      Host_kit.Spin.sleeping spin (fun () ->
          sleep fiber (Trigger.create ()) ~told:false block)
  | turns -> suspend_looking fiber spin turns block

let protect f = Fiber.forbid (current ()) f

(* --- Which fiber ---------------------------------------------------------- *)

let number : int Fiber.FLS.t = Fiber.FLS.create ()
let next_number = Atomic.make 1

let number_of fiber =
  match Fiber.FLS.get_exn fiber number with
  | n -> n
  | exception Fiber.FLS.Not_set ->
      let n = Atomic.fetch_and_add next_number 1 in
      Fiber.FLS.set fiber number n;
      n

let who fiber =
  let numbered = Printf.sprintf "fiber %d" (number_of fiber) in
  Host_kit.Who.make ~host:name ~name:numbered fiber

(* --- Fibers that a fiber starts ------------------------------------------- *)

exception Stopped

let () =
  Printexc.register_printer (function
    | Stopped -> Some "Concord_picos: the scope of the fiber was cancelled"
    | _ -> None)

(* [live], an Atomic, counts the fibers of the scope that have not ended, and its body
   as one. It is 0 once; whoever made it so signals [ended]. *)
type scope = {
  computation : unit Computation.t;  (** Of all fibers of the scope. *)
  live : int Atomic.t;
  ended : Trigger.t;
  outer : scope list;  (** Those that the scope was opened in. *)
}

(* The scopes that a fiber is in. *)
let key : scope list Fiber.FLS.t = Fiber.FLS.create ()
let scopes_of fiber = Fiber.FLS.get fiber key ~default:[]
let leave t = if Atomic.fetch_and_add t.live (-1) = 1 then signal t.ended
let is_in t fiber = List.memq t (scopes_of fiber)

let fork t f =
  let caller =
    match current () with
    | fiber when is_in t fiber -> fiber
    | _ | (exception Host_kit.Elsewhere) ->
        invalid_arg "Scope.fork: the caller is not a task of the scope"
  in
  Fiber.check caller;
  let fiber = Fiber.create ~forbid:false t.computation in
  Fiber.FLS.set fiber key (t :: t.outer);
  Atomic.incr t.live;
  let begun = Trigger.create () in
  let main _ =
    signal begun;
    Fun.protect f ~finally:(fun () -> leave t)
  in
  match Fiber.spawn fiber main with
  | () ->
      (* tasks begin in the order in which they were forked *)
      await_forbidding caller begun
  | exception e ->
      (* [main] is not called *)
      let backtrace = Printexc.get_raw_backtrace () in
      leave t;
      Printexc.raise_with_backtrace e backtrace

let cancel t () =
  Computation.cancel t.computation Stopped (Printexc.get_callstack 0)

(* The body has the computation of the scope. What cancels the fiber is passed on to that,
   unless the fiber forbids it; the scope can cancel the body in any case. *)
let run_scope t fiber body =
  let outer = Fiber.get_computation fiber in
  let forbid = Fiber.exchange fiber ~forbid:false in
  Fiber.set_computation fiber (Packed t.computation);
  Fiber.FLS.set fiber key (t :: t.outer);
  let finally () =
    Fiber.set_computation fiber outer;
    Fiber.FLS.set fiber key t.outer;
    leave t;
    await_forbidding fiber t.ended;
    Fiber.set fiber ~forbid
  in
  Fun.protect ~finally (fun () ->
      body Concord.Suspend.{ fork = fork t; cancel = cancel t })

let open_scope fiber body =
  let t =
    {
      computation = Computation.create ~mode:`LIFO ();
      live = Atomic.make 1;
      ended = Trigger.create ();
      outer = scopes_of fiber;
    }
  in
  Fiber.check fiber;
  if Fiber.has_forbidden fiber then run_scope t fiber body
  else begin
    let (Packed from) = Fiber.get_computation fiber in
    let canceler = Computation.canceler ~from ~into:t.computation in
    (* a computation that has returned is not cancelled any more *)
    let attached = Computation.try_attach from canceler in
    if not attached then Fiber.check fiber;
    let finally () = if attached then Computation.detach from canceler in
    let v = Fun.protect ~finally (fun () -> run_scope t fiber body) in
    Fiber.check fiber;
    v
  end

let scope body = open_scope (current ()) body

let plugin =
  Host_kit.
    {
      name;
      sample = None;
      takes_every_effect = false;
      suspend;
      protect;
      scopes = Some { scope };
    }

let () = Host_kit.plug_in ~who:(fun () -> who (current ())) plugin
