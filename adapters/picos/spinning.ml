open Picos
module Host_kit = Concord.Tools.Host_kit
module Private = Concord.Private

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
  mutable cancel : unit Concord.Tools.Suspend.resumer;
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
          Wait.signal look.trigger;
          true
        end);
  look.canceler <- Wait.attach_canceler computation look.cancel

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
          Wait.sleep look.fiber look.trigger ~told block);
    }

let new_look fiber =
  {
    fiber;
    trigger = Trigger.create ();
    answer = None_yet;
    canceler = None;
    cancel = refuse;
  }

(* All that is allocated: there a signal handler may raise, and [spin] is not to wait for
   the end of a look that never began. *)
let prepare fiber spin block =
  match
    let look = new_look fiber in
    (look, looking look, noting look block)
  with
  | prepared -> prepared
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Private.Spin.leave_turns spin;
      Printexc.raise_with_backtrace e backtrace

let suspend_spinning fiber spin turns block =
  let look, host, block = prepare fiber spin block in
  match Private.Spinning.suspend_spinning spin host turns block with
  | v ->
      detach look;
      if look.answer = Value then Wait.touch ();
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      detach look;
      if look.answer = Exception then Wait.touch ();
      let told =
        if look.answer = Wait then Wait.cancelled_at fiber e else None
      in
      Printexc.raise_with_backtrace e (Option.value told ~default:backtrace)

let spins = Domain.DLS.new_key Host_kit.Spin.create

(* In two halves: what a look needs is made only if there is one. *)
let suspend fiber block =
  Fiber.check fiber;
  let spin = Domain.DLS.get spins in
  match Private.Spinning.begin_turns spin with
  | 0 ->
      Private.Spin.sleeping spin (fun () ->
          Wait.sleep fiber (Trigger.create ()) ~told:false block)
  | turns -> suspend_spinning fiber spin turns block
