type ('t, 'x, 'a) own =
  | Own : {
      pace : Spin.pace;
      prepare : 'x -> 'y;
      attempt : 't -> 'y -> unit -> 'a option;
      in_choice : bool;
    }
      -> ('t, 'x, 'a) own

type ('t, 'x, 'a) spin =
  | Never
  | Before
  | Enlisted
  | Enlisted_or_before
  | Indifferent
  | In_its_own_way of ('t, 'x, 'a) own

type ('t, 'x, 'a) how =
  | By_steps : {
      word : 't -> 's Atomic.t;
      step : 'x -> 's -> ('s, 'a) Step.t;
      queue : ('s, 'x, 'a) Step.queue;
      left : ('s, unit) Step.next;
    }
      -> ('t, 'x, 'a) how
  | By_hand of {
      attempt : 't -> 'x -> 'a option;
      enlist : 't -> ('x, 'a) Waiter.t -> bool;
      withdraw : 't -> ('x, 'a) Waiter.t -> unit;
    }

type ('t, 'x, 'a) t = {
  mark : string;
  name : string;
  spin : ('t, 'x, 'a) spin;
  holders : 't -> Holder.t list;
  state : 't -> string;
  from_outside : bool;
  undo : 't -> 'x -> 'a -> bool;
  how : ('t, 'x, 'a) how;
}

let undo_nothing _ _ _ = true

let default =
  let attempt _ _ = None and enlist _ _ = true and withdraw _ _ = () in
  {
    mark = "an operation of Concord";
    name = "";
    spin = Never;
    holders = (fun _ -> []);
    state = (fun _ -> "");
    from_outside = false;
    undo = (fun _ _ _ -> false);
    how = By_hand { attempt; enlist; withdraw };
  }

let[@inline] attempt (type s x a) (operation : (s, x, a) t) (t : s) arg =
  match operation.how with
  | By_steps { word; step; _ } -> Step.attempt (word t) step arg
  | By_hand { attempt; _ } -> attempt t arg

let[@inline] enlist (type s x a) (operation : (s, x, a) t) (t : s) w =
  match operation.how with
  | By_steps { word; step; queue; _ } -> Step.enlist (word t) step queue w
  | By_hand { enlist; _ } -> enlist t w

let rec attempt_or_enlist operation t w resumer =
  (* Before [attempt], because if that raises, there is nothing to withdraw. *)
  Waiter.mark_withdrawn w;
  match attempt operation t w.Waiter.arg with
  | Some _ as got -> got
  | None ->
      (* another task was faster *)
      w.Waiter.resumer <- resumer;
      if enlist operation t w then None
      else attempt_or_enlist operation t w resumer

let leave = Step.leave

(* The waiter is then marked. [Step.withdraw] marks it itself. *)
let withdraw_once (type s x a) (operation : (s, x, a) t) (t : s) w =
  match operation.how with
  | By_steps { word; queue; left; _ } -> Step.withdraw (word t) queue left w
  | By_hand { withdraw; _ } ->
      withdraw t w;
      Waiter.mark_withdrawn w

(* Unbroken. After 16 exceptions the cause is [withdraw] itself. *)
let rec withdraw_within tries operation t w =
  match withdraw_once operation t w with
  | () -> ()
  | exception e ->
      if tries > 0 && not (Waiter.is_withdrawn w) then
        withdraw_within (tries - 1) operation t w;
      raise e

let withdraw operation t w =
  if not (Waiter.is_withdrawn w) then begin
    Waiter.mark_leaving w;
    withdraw_within 16 operation t w
  end

exception Nudged = Observer.Nudged

let[@inline never] withdraw_and_raise operation t w e =
  let backtrace = Backtrace.get () in
  if Reach.is_refusal e then Reach.name_refusal operation.name;
  withdraw operation t w;
  Observer.raises e t;
  Printexc.raise_with_backtrace e backtrace

let[@inline] block operation t w resumer =
  w.Waiter.resumer <- resumer;
  if enlist operation t w then None else attempt_or_enlist operation t w resumer

let target { name; holders; state; from_outside; _ } t =
  Target.make name t holders ~state ~from_outside

(* The exception comes with the outcome, so the task isn't a waiter any more. *)
let[@inline never] undo_if_cancelled operation t arg v =
  match Overtaken.cancelled () with
  | Some raised when operation.undo t arg v ->
      let e = raised () in
      Observer.raises e t;
      raise e
  | Some _ | None -> v

let[@inline] resumed operation t arg v =
  if Overtaken.may_be () then undo_if_cancelled operation t arg v else v

let rec suspend_by (way : Reach.noted) operation t arg =
  let w = Waiter.make arg in
  match way.suspend (fun resumer -> block operation t w resumer) with
  | v -> resumed operation t arg v
  | exception Reach.Elsewhere -> suspend_by Reach.by_search operation t arg
  | exception e -> withdraw_and_raise operation t w e
[@@inline never]

(* No variable holds the function that the task waits with. Otherwise the stack would keep it
   alive while the task waits, which takes 48 bytes. If the effect comes back unhandled, the
   task hasn't waited yet. *)
let[@inline never] suspend_by_effect operation t arg =
  let w = Waiter.make arg in
  match
    Effect.perform
      (Concord_suspend.Suspend (fun resumer -> block operation t w resumer))
  with
  | v -> resumed operation t arg v
  | exception Effect.Unhandled (Concord_suspend.Suspend unhandled)
    when Identity.is_closed_over unhandled w ->
      suspend_by Reach.by_search operation t arg
  | exception e -> withdraw_and_raise operation t w e

let[@inline never] slowly operation t =
  let targets () = [ target operation t ] in
  { Reach.suspend = (fun block -> Reach.suspend_slowly targets block) }

(* A new fiber of Eio can use about 160 bytes of its stack before it is copied into a larger
   one. [Domain.DLS.get] takes 80 of them, so [noted] is called before anything else is on the
   stack. *)
let suspend operation t arg =
  if Observer.takes_slow_path () then
    suspend_by (slowly operation t) operation t arg
  else if Reach.comes_back () then suspend_by (Reach.noted ()) operation t arg
  else suspend_by_effect operation t arg

(* --- Spinning before ---------------------------------------------------------------- *)

let spins = Domain.DLS.new_key Spin.create

let[@inline] may_spin () =
  Domains.were_spawned () && not (Spin.skips (Domain.DLS.get spins))

let[@inline never] spin pace attempt x y z =
  Spin.attempt (Domain.DLS.get spins) pace attempt x y z

(* Attempts before it allocates, because another domain may be reading that cache line. *)
let[@inline never] spin_before (type s x a) (operation : (s, x, a) t) (t : s)
    arg =
  match
    match operation.how with
    | By_steps { word; _ } ->
        let spins = Domain.DLS.get spins in
        Spin.attempt_soon spins (word t) attempt operation t arg
    | By_hand _ -> spin Spin.soon attempt operation t arg
  with
  | Some v -> v
  | None -> suspend operation t arg

(* The last attempt is for what a task does that spun for more than one item. *)
let[@inline never] spin_in_own_way (Own { pace; prepare; attempt = f; _ })
    operation t arg =
  match spin pace f t (prepare arg) () with
  | Some v -> v
  | None -> (
      match attempt operation t arg with
      | Some v -> v
      | None -> suspend operation t arg)

(* --- Spinning in the queue ---------------------------------------------------------------- *)

(* The outcome that the task decides itself if it has met no other task. It then withdraws. *)
exception Met_nobody

let nobody = Error Met_nobody

let is_decided decision () () =
  if Decision.is_undecided (Decision.outcome decision) then None else Some ()

let met t decision =
  match Decision.outcome decision with
  | Ok v -> v
  | Error e ->
      Observer.raises e t;
      raise e

(* Unbroken after [block], in the resumer, and between the decision and the return. Otherwise
   a value that was taken or given would be lost. An exception that comes after the task was
   resumed is too late, as in [Park]. *)
let[@inline never] meet_or_wait operation t arg =
  Late.raise_kept ();
  let w = Waiter.make arg and decision = Decision.create () in
  match
    match
      block operation t w (fun outcome -> Decision.decide decision outcome)
    with
    | Some _ as given -> given
    | None ->
        ignore (spin Spin.soon is_decided decision () () : unit option);
        None
  with
  | Some v -> v
  | None ->
      if Decision.decide decision nobody then begin
        withdraw operation t w;
        suspend operation t arg
      end
      else met t decision
  | exception e ->
      if Decision.decide decision nobody then withdraw_and_raise operation t w e
      else begin
        Late.keep e (Printexc.get_raw_backtrace ());
        met t decision
      end

(* Not inlined. Its caller waits for long anyway, and has room for the call on its stack. *)
let[@inline never] wait operation t arg =
  match operation.spin with
  | Before when may_spin () -> spin_before operation t arg
  | (Enlisted | Enlisted_or_before)
    when may_spin () && not (Observer.takes_slow_path ()) ->
      meet_or_wait operation t arg
  | In_its_own_way own when may_spin () -> spin_in_own_way own operation t arg
  | Never | Before | Enlisted | Enlisted_or_before | Indifferent
  | In_its_own_way _ ->
      suspend operation t arg

let[@inline] perform operation t arg =
  match attempt operation t arg with
  | Some v -> v
  | None -> wait operation t arg
