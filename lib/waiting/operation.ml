type ('t, 'x, 'a) t = {
  attempt : 't -> 'x -> 'a option;
  enlist : 't -> ('x, 'a) Waiter.t -> bool;
  withdraw : 't -> ('x, 'a) Waiter.t -> unit;
}

let rec attempt_or_enlist operation t w resumer =
  (* gone, as [attempt] may raise: then there is nothing to withdraw *)
  Waiter.mark_gone w;
  match operation.attempt t w.Waiter.arg with
  | Some _ as got -> got
  | None ->
      (* another task was faster *)
      w.Waiter.resumer <- resumer;
      if operation.enlist t w then None
      else attempt_or_enlist operation t w resumer

let rec leave t w f =
  let before = Atomic.get t in
  let after = f before in
  if after == before || Atomic.compare_and_set t before after then
    (* no signal handler runs in between: it is counted once *)
    Waiter.mark_gone w
  else (* any other transition *) leave t w f

(* A signal handler may raise before the waiter is counted: then it is withdrawn again. So many
   signals do not come meanwhile: else it is [withdraw] that raises. *)
let rec withdraw_within tries operation t w =
  match operation.withdraw t w with
  | () -> Waiter.mark_gone w
  | exception e ->
      if tries > 0 && not (Waiter.has_left w) then
        withdraw_within (tries - 1) operation t w;
      raise e

let withdraw operation t w =
  if Waiter.is_live w then begin
    Waiter.mark_leaving w;
    withdraw_within 16 operation t w
  end

type refused = Refused : ('t, 'x, 'a) t * 'x -> refused | Refused_choice

let refused : refused option Atomic.t = Atomic.make None

let[@inline never] withdraw_and_raise operation t w e =
  let backtrace = Backtrace.get () in
  if Reach.is_refusal e then
    Atomic.set refused
      (* an argument may be large, and is kept *)
      (Some
         (Refused
            ( operation,
              if Identity.is_immediate w.Waiter.arg then w.Waiter.arg
              else Identity.nothing () )));
  withdraw operation t w;
  Labels.raises e t;
  Printexc.raise_with_backtrace e backtrace

let[@inline] block operation t w resumer =
  w.Waiter.resumer <- resumer;
  if operation.enlist t w then None else attempt_or_enlist operation t w resumer

let immediate arg =
  (* it may be large, and is kept *)
  if Identity.is_immediate arg then arg else Identity.nothing ()

let place operation t arg =
  Waits.Place { operation; arg = immediate arg; structure = Identity.pointer t }

let[@inline never] wait_with_care operation t w =
  Reach.suspend_with_care
    (fun () -> [ place operation t w.Waiter.arg ])
    (fun resumer -> block operation t w resumer)

(* After the effect has come back, or where the host is another one than was noted, the task
   has not waited yet. *)
let[@inline never] wait_otherwise operation t w = function
  | Effect.Unhandled (Concord_suspend.Suspend unhandled)
    when Identity.captures unhandled w ->
      begin match Reach.suspend_unhandled (Identity.own unhandled) with
      | v -> v
      | exception e -> withdraw_and_raise operation t w e
      end
  | Reach.Elsewhere ->
      begin match
        Reach.suspend_elsewhere (fun resumer -> block operation t w resumer)
      with
      | v -> v
      | exception e -> withdraw_and_raise operation t w e
      end
  | e -> withdraw_and_raise operation t w e

(* As [Reach.suspend_at_once], but the stack of the task that waits does not keep the
   function: 48 bytes. Until that is called, nothing else refers to the waiter. *)
let wait operation t arg =
  let w = Waiter.make arg in
  match
    if Reach.needs_care () then wait_with_care operation t w
    else if Reach.comes_back () then
      Reach.suspend_by_note (fun resumer -> block operation t w resumer)
    else
      Effect.perform
        (Concord_suspend.Suspend (fun resumer -> block operation t w resumer))
  with
  | v -> v
  | exception e -> wait_otherwise operation t w e

(* --- Looking ---------------------------------------------------------------- *)

let spins = Domain_local.make Spin.create_at_once

let[@inline] may_look () =
  Domains.were_spawned () && not (Spin.skips (Domain_local.get spins))

let[@inline never] attempt_soon attempt t arg =
  Spin.attempt_at_once (Domain_local.get spins) attempt t arg

let[@inline never] attempt_at_change word attempt t arg =
  Spin.attempt_at_change (Domain_local.get spins) word attempt t arg

(* Not inlined, as its caller waits for long. *)
let[@inline never] look_then_wait operation t arg =
  if may_look () then
    match attempt_soon operation.attempt t arg with
    | Some v -> v
    | None -> wait operation t arg
  else wait operation t arg

(* --- Meeting ---------------------------------------------------------------- *)

(* The task's own outcome, if it has met nobody: then it withdraws. *)
exception Met_nobody

let nobody = Error Met_nobody

let is_decided decision () =
  if Decision.is_undecided (Decision.outcome decision) then None else Some ()

let met t decision =
  match Decision.outcome decision with
  | Ok v -> v
  | Error e ->
      Labels.raises e t;
      raise e

(* Nothing is allocated after [block], nor by the resumer, nor between the decision and the
   return: a signal handler that raises there would lose what was taken or given. One that
   raises once the task was resumed comes too late, as in [Park]. *)
let[@inline never] meet_or_wait operation t arg =
  Park.raise_kept ();
  let w = Waiter.make arg and decision = Decision.create () in
  match
    match
      block operation t w (fun outcome -> Decision.decide decision outcome)
    with
    | Some _ as given -> given
    | None ->
        ignore (attempt_soon is_decided decision () : unit option);
        None
  with
  | Some v -> v
  | None ->
      if Decision.decide decision nobody then begin
        withdraw operation t w;
        wait operation t arg
      end
      else met t decision
  | exception e ->
      if Decision.decide decision nobody then withdraw_and_raise operation t w e
      else begin
        Park.keep e (Printexc.get_raw_backtrace ());
        met t decision
      end

let[@inline never] meet_then_wait operation t arg =
  if may_look () && not (Reach.needs_care ()) then meet_or_wait operation t arg
  else wait operation t arg
