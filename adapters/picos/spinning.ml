open Picos
module Host_kit = Concord.Tools.Host_kit
module Private = Concord.Private

(* The result of [block]. *)
type answer = None_yet | Wait | Value | Exception

(* The state of a fiber that spins before it sleeps. From its first turn until the wait is over,
   [canceler] is attached to its computation. *)
type wait = {
  fiber : Fiber.t;
  trigger : Trigger.t;
      (** The fiber sleeps on it. The canceler signals it too, because the fiber
          may be about to sleep. *)
  mutable answer : answer;
  mutable canceler : Trigger.t option;
  mutable cancel : unit Concord.Tools.Suspend.resumer;
      (** The canceler calls it. It is stored here, because the canceler doesn't
          keep it alive. *)
}

let refuse _ = false

let attach wait cancel =
  let (Packed computation) = Fiber.get_computation wait.fiber in
  wait.cancel <-
    (function
    | Ok () -> false
    | Error e ->
        cancel e
        && begin
          Wait.signal wait.trigger;
          true
        end);
  wait.canceler <- Wait.attach_canceler computation wait.cancel

let detach wait =
  let detach canceler =
    let (Packed computation) = Fiber.get_computation wait.fiber in
    Computation.detach computation canceler
  in
  Option.iter detach wait.canceler

let turn wait cancel =
  if Option.is_none wait.canceler && not (Fiber.has_forbidden wait.fiber) then
    attach wait cancel;
  Fiber.forbid wait.fiber Fiber.yield

let noting wait block resumer =
  match block resumer with
  | Some _ as answer ->
      wait.answer <- Value;
      answer
  | None ->
      wait.answer <- Wait;
      None
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      wait.answer <- Exception;
      Printexc.raise_with_backtrace e backtrace

let spinning wait =
  Host_kit.
    {
      check = ignore;
      turn = (fun cancel -> turn wait cancel);
      (* [cancel] isn't needed here. If there is a canceler, it calls [cancel] itself. *)
      suspend =
        (fun ~cancel:_ block ->
          let told = Option.is_some wait.canceler in
          Wait.sleep wait.fiber wait.trigger ~told block);
    }

let new_wait fiber =
  {
    fiber;
    trigger = Trigger.create ();
    answer = None_yet;
    canceler = None;
    cancel = refuse;
  }

(* Makes all allocations. Unbroken: if one of them raises, the wait never begins, so [spin] must
   not wait for its end. *)
let prepare fiber spin block =
  match
    let wait = new_wait fiber in
    (wait, spinning wait, noting wait block)
  with
  | prepared -> prepared
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Private.Spin.leave_turns spin;
      Printexc.raise_with_backtrace e backtrace

let suspend_spinning fiber spin turns block =
  let wait, host, block = prepare fiber spin block in
  match Private.Spinning.suspend_spinning spin host turns block with
  | v ->
      detach wait;
      if wait.answer = Value then Wait.touch ();
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      detach wait;
      if wait.answer = Exception then Wait.touch ();
      let told =
        if wait.answer = Wait then Wait.cancelled_at fiber e else None
      in
      Printexc.raise_with_backtrace e (Option.value told ~default:backtrace)

let spins = Domain.DLS.new_key Host_kit.Spin.create

(* The objects that spinning needs are made only if the fiber spins. *)
let suspend fiber block =
  Fiber.check fiber;
  let spin = Domain.DLS.get spins in
  match Private.Spinning.begin_turns spin with
  | 0 ->
      Private.Spin.sleeping spin (fun () ->
          Wait.sleep fiber (Trigger.create ()) ~told:false block)
  | turns -> suspend_spinning fiber spin turns block
