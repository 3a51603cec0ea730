(* A barrier lets a round of [parties] tasks through when the last one arrives. But the last
   task can't know whether the others still wait. A task that was cancelled, or chose
   otherwise, looks like any other until it has withdrawn, and only its resumer knows. And a
   resumption can't be taken back.

   So a resumption only means "find out whether the round is complete". The last task makes a
   trial ({!Trial}), in which it resumes the others. If enough accept, the trial has passed,
   and so has the round. Otherwise the resumed tasks find that the trial has failed, and wait
   again. *)

(* The status of a slot. Each arrival has one.

   State      Left by             To         By whom
   Stays      a failed trial      Away       the task that made the trial and resumed
                                             the waiter
   Leaves     a failed trial      Withdrawn  the task that made the trial
   Away       the task returns    Stays      the task, which waits again
   any        a refusal           Withdrawn  the task that made the trial
              a withdrawal        Withdrawn  the task of the slot
   Withdrawn  never (terminal)

   The task that makes a slot Withdrawn subtracts it from [arrived], and also from [away] if
   the slot was Away. The task that makes it Away, or Stays again, counts that in [away]. A
   slot that a trial has let through keeps its status, because it is not used any more.

   [Leaves] is the initial status in an event. If the event was resumed in vain, its choice
   begins again and arrives anew, with a new slot. A task that waits for nothing else returns
   to its slot, so its initial status is [Stays]. *)
type status = Stays | Leaves | Away | Withdrawn
type slot = (status Atomic.t, Trial.t) Waiter.t

(* [state]

   Left by          To                              By whom
   a waiter         one more slot                   the task that waits
   a withdrawal     one slot less                   its task
   a return         one less away                   the task that returns
   the last task    [trying], without its slots    the last task to arrive
                    one slot less, if parties = 2   the same; it resumes the waiter
   a passed trial   not [trying], fewer arrived     the task that made the trial
   a failed trial   not [trying]; with the slots    the same
                    of those that did not refuse

   A withdrawal, a return or the end of a trial may leave a state in which a round may be
   complete. In that case the state becomes [trying] in the same change, and the task that made
   the change makes the next trial. While a task makes a trial, the queue has only the waiters
   that came since the trial began. No trial begins while some tasks are away.

   A failed trial first makes the slots of those that accepted Away. Then it ends the [Trial],
   so that these tasks learn that they were resumed in vain. Only after that it changes
   [state]. So a task on another domain may have returned before it is counted as away. *)
type state = {
  arrived : int;
      (** Includes the waiters of a trial, until the trial is over. *)
  away : int;
      (** The number of those that were resumed in vain, and have not returned
          yet. *)
  trying : bool;
  slots : (status Atomic.t, Trial.t) Waiters.t;
}

type t = { parties : int; state : state Atomic.t }

(* The argument of a wait. Only the waiting task uses the fields. *)
type arrival = {
  barrier : t;
  initial : status;
  mutable slot : slot;  (** The last one. *)
  mutable accepted : Trial.t;  (** The last trial in which the task accepted. *)
}

let nowhere : slot = Waiter.make (Atomic.make Withdrawn)

let arrival barrier initial =
  { barrier; initial; slot = nowhere; accepted = Trial.failed }

let empty = { arrived = 0; away = 0; trying = false; slots = Waiters.empty }
let parties t = t.parties

(* The waiters of a trial are not counted, because they are through or will return at once.
   [arrived] may be -1 while two tasks meet (see [meet]). *)
let waiters t =
  let s = Atomic.get t.state in
  if s.trying then Waiters.length s.slots else Int.max 0 s.arrived

let missing t =
  let missing = Int.max 0 (t.parties - waiters t) in
  Printf.sprintf "%d of %d parties missing" missing t.parties

let create ?name parties =
  if parties < 1 then
    invalid_arg
      (Printf.sprintf
         "Barrier.create: the number of parties is %d, but must be at least 1"
         parties);
  let t = { parties; state = Atomic.make empty } in
  Labels.made ~kind:"barrier" ?name t

(* --- Steps ---------------------------------------------------------------- *)

(* Returns [true] if a trial may pass once [given] more tasks have arrived. A withdrawn waiter
   may still be counted in [arrived]. If only that count mattered, one trial after the other
   would fail and wake tasks in vain. So only live waiters count here, and each trial that
   fails makes one more waiter withdrawn. *)
let is_ready t s ~given =
  s.arrived + given >= t.parties
  && s.away = 0 && (not s.trying)
  &&
  let live = ref given in
  Waiters.iter (fun slot -> if Waiter.is_live slot then incr live) s.slots;
  !live >= t.parties

(* The step of a slot. The result is the previous status. *)
let vanish status : _ Step.t = Return (Withdrawn, status)

let lose = function
  | Stays -> Step.Return (Away, Stays)
  | (Leaves | Away | Withdrawn) as status -> vanish status

(* Puts [first] in front of the waiters that came since. *)
let before first slots =
  let add slot slots =
    if Waiter.is_live slot then Waiters.push_first slots slot else slots
  in
  List.fold_right add first slots

(* The parts of a trial that stay the same while it runs. *)
type 'r round = {
  barrier : t;
  trial : Trial.t;
  outcome : (Trial.t, exn) result;
  result : bool -> 'r;
      (** The result of the operation. The argument is [true] if the trial has
          passed. *)
}

(* The state becomes [s]. But if a round may be complete in [s], a trial begins. *)
let rec settle t s result : _ Step.t =
  if is_ready t s ~given:0 then try_out t s ~given:0 (fun _ -> result)
  else Return (s, result)

(* [given] is 1 if a task without a slot arrives. *)
and try_out barrier s ~given result : _ Step.t =
  let missing = barrier.parties - given in
  let trial = Labels.waited_in ~from:barrier (Trial.create ()) in
  let round = { barrier; trial; outcome = Ok trial; result } in
  Become
    ( { s with trying = true; slots = Waiters.empty },
      ask round ~missing ~withdrawn:0 [] (Waiters.to_list s.slots) )

(* Resumes the first slots, until [missing] more have accepted. It continues after a refusal,
   because many tasks may have been cancelled together, and otherwise each of them would make
   another trial fail and wake others in vain. [asked] are the slots that have accepted, the
   last one first. [withdrawn] is the number of slots that this trial has made Withdrawn. *)
and ask round ~missing ~withdrawn asked : _ -> _ Step.next = function
  | slot :: others when missing > 0 ->
      let answered accepted =
        if accepted then
          ask round ~missing:(missing - 1) ~withdrawn (slot :: asked) others
        else
          let count status =
            let withdrawn =
              if status = Withdrawn then withdrawn else withdrawn + 1
            in
            ask round ~missing ~withdrawn asked others
          in
          At (slot.Waiter.arg, vanish, count)
      in
      Resume (slot, round.outcome, answered)
  | kept ->
      let conclude has_passed =
        if has_passed then
          let withdrawn = withdrawn + List.length asked in
          end_trial round kept ~withdrawn ~away:0 ~has_passed
        else take_back round kept ~withdrawn ~away:0 asked
      in
      if missing > 0 then conclude false
      else At (round.trial, Trial.pass, conclude)

(* The tasks that accepted are away until they return. *)
and take_back round kept ~withdrawn ~away : _ -> _ Step.next = function
  | slot :: asked ->
      let check = function
        | Stays ->
            take_back round (slot :: kept) ~withdrawn ~away:(away + 1) asked
        | Leaves -> take_back round kept ~withdrawn:(withdrawn + 1) ~away asked
        | Away | Withdrawn -> take_back round kept ~withdrawn ~away asked
      in
      At (slot.Waiter.arg, lose, check)
  | [] ->
      let failed (_ : bool) =
        end_trial round kept ~withdrawn ~away ~has_passed:false
      in
      At (round.trial, Trial.over, failed)

(* Some of those that are counted in [away] here may have returned already. *)
and end_trial { barrier; result; _ } kept ~withdrawn ~away ~has_passed =
  let step s =
    let arrived = s.arrived - withdrawn and away = s.away + away in
    let slots = before kept s.slots in
    settle barrier { arrived; away; trying = false; slots } (result has_passed)
  in
  Then step

let met = Ok Trial.passed

(* With two parties no trial is needed, because the acceptance of the other task decides alone.
   Meanwhile the other task is not counted in [arrived]. If it has also withdrawn, its own task
   subtracts it too, so it is counted again here. *)
let meet t s : _ Step.t =
  let slot = Waiters.head s.slots in
  let count_again s = settle t { s with arrived = s.arrived + 1 } () in
  let refused = function
    | Withdrawn -> Step.At (t.state, count_again, fun () -> Again)
    | Stays | Leaves | Away -> Again
  in
  Hand_over
    {
      state = { s with arrived = s.arrived - 1; slots = Waiters.tail s.slots };
      waiter = slot;
      outcome = met;
      accepted = Done true;
      refused = At (slot.arg, vanish, refused);
    }

let await_step t s : _ Step.t =
  if not (is_ready t s ~given:1) then Wait
  else if t.parties = 2 then meet t s
  else try_out t s ~given:1 Fun.id

(* If one choice has the same barrier twice, it enlists once (see [Choice.is_enlisted]). *)
let rec arrive t slot =
  let s = Atomic.get t.state in
  (not (is_ready t s ~given:1))
  &&
  let arrived = s.arrived + 1 and slots = Waiters.push s.slots slot in
  Atomic.compare_and_set t.state s { s with arrived; slots }
  ||
  (* any other transition *)
  arrive t slot

let returned t s : _ Step.t = settle t { s with away = s.away - 1 } ()

let left t ~away s =
  let arrived = s.arrived - 1 and away = s.away - away in
  settle t { s with arrived; away; slots = Waiters.count_withdrawn s.slots } ()

let finish () = Step.finished

(* The step of a slot. *)
let return_step t (_ : status) : _ Step.t =
  Become (Stays, At (t.state, returned t, finish))

(* A step of [accepted], the last trial that the task has accepted, after which the task no
   longer waits. If that trial has passed, so has the task's round, and the slot isn't
   withdrawn. *)
let leave_step { barrier; slot; accepted; _ } state : _ Step.t =
  let leave has_passed =
    let count = function
      | Withdrawn -> Step.finished
      | Away -> At (barrier.state, left barrier ~away:1, finish)
      | Stays | Leaves -> At (barrier.state, left barrier ~away:0, finish)
    in
    if has_passed then Step.finished else At (slot.arg, vanish, count)
  in
  Become (state, At (accepted, Trial.doubt, leave))

(* --- Waiting -------------------------------------------------------------- *)

let attempt t (_ : arrival) =
  match Step.attempt t.state await_step t with
  | Some true -> Some Trial.passed
  | Some false | None -> None

(* When the task returns to its slot, it may make a trial itself, and that trial resumes this
   task first. From then on a signal handler's exception comes too late, because the host would
   drop an exception of [block] (S1 in [concord_suspend.mli]). So it is kept for the task's
   next wait. *)
let come_back t { slot; _ } resumer =
  let is_resumed = Atomic.make false in
  slot.Waiter.resumer <-
    (fun outcome ->
      resumer outcome
      && begin
        Atomic.set is_resumed true;
        true
      end);
  match Step.surely slot.Waiter.arg return_step t with
  | () -> true
  | exception e when Atomic.get is_resumed ->
      Late.keep e (Printexc.get_raw_backtrace ());
      true

(* [arrival.slot] is set before the slot is in the queue, because another domain may resume the
   task before this function returns. *)
let enlist t (w : (arrival, Trial.t) Waiter.t) =
  let arrival = w.arg in
  if Atomic.get arrival.slot.arg = Away then come_back t arrival w.resumer
  else
    let status = Atomic.make arrival.initial in
    let slot = Waiter.make_alternative w.choice status in
    slot.resumer <- w.resumer;
    arrival.slot <- slot;
    match arrive t slot with
    | true -> true
    | false ->
        arrival.slot <- nowhere;
        false
    | exception e ->
        arrival.slot <- nowhere;
        raise e

(* Does nothing if the round of the task is complete, or its slot is withdrawn. *)
let[@inline] leave arrival =
  if arrival.slot != nowhere then begin
    Waiter.mark_withdrawn arrival.slot;
    Step.surely arrival.accepted leave_step arrival
  end

let awaiting =
  {
    Operation.default with
    state = missing;
    name = "Barrier.await";
    spin = Enlisted;
    how =
      By_hand
        {
          attempt;
          enlist;
          withdraw = (fun _ (w : (arrival, Trial.t) Waiter.t) -> leave w.arg);
        };
  }

(* The task suspends without spinning. If it spun in vain, it would lose the slot that it has
   kept. *)
let rec wait how t arrival =
  let trial = how awaiting t arrival in
  if not (Trial.is_passed trial) then begin
    arrival.accepted <- trial;
    if not (Trial.has_passed trial) then wait Operation.suspend t arrival
  end

let await t =
  match Step.attempt t.state await_step t with
  | Some true -> ()
  | Some false | None -> (
      let arrival = arrival t Stays in
      try wait Operation.wait t arrival
      with e ->
        let backtrace = Printexc.get_raw_backtrace () in
        leave arrival;
        Printexc.raise_with_backtrace e backtrace)

let await_evt t =
  Event.guard @@ fun () ->
  Event.wrap
    (Event.make_by (Tentative_once Trial.has_passed) awaiting t
       (arrival t Leaves))
    (fun (_ : Trial.t) -> ())
