(* The last task to arrive cannot know whether the others still wait: a task that was
   cancelled, or chose otherwise, and has not withdrawn yet looks like any other, and
   only its resumer tells. A resumption cannot be taken back either. So a resumption
   means no more than "go and look": the last task makes a trial, in which it resumes
   the others. If enough accept, the trial has passed, and with it the round. Else the
   tasks that were resumed find that it has failed, and wait again. *)

(* The status of a slot, one for each arrival

   State      Left by           To         By whom
   Stays      a failed trial    Away       the trial's task, which resumed the waiter
   Leaves     a failed trial    Withdrawn  the trial's task
   Away       its task is back  Stays      the task, which waits again
   any        refused           Withdrawn  the trial's task
              withdrawn         Withdrawn  the task
   Withdrawn  never (terminal)

   The task that makes a slot Withdrawn takes it out of [arrived], and out of [away] if it was
   Away. The task that makes it Away, or takes it back to Stays, counts that in [away]. A
   slot that a trial has let through keeps its status: nobody asks for it any more.

   [Leaves] is the slot of an event. If the event was resumed in vain, it chooses again and
   arrives anew. A task that waits for nothing else comes back to its slot. *)
type status = Stays | Leaves | Away | Withdrawn
type slot = (status Atomic.t, Trial.t) Waiter.t

(* [state]

   Left by          To                              By whom
   a waiter         one more slot                   the task that waits
   a withdrawal     one slot less                   its task
   its return       one less away                   its task
   the last task    [trying], without its slots    the task
                    one slot less, if of two        the task, which resumes its waiter
   a passed trial   not [trying], so many less      the trial's task
   a failed trial   not [trying]; with the slots    the trial's task
                    of those that did not refuse

   If a round may be complete after a withdrawal, a return or a trial, the state is [trying]
   at once, and that task makes the next trial. While a task tries, the queue has only the
   waiters that come meanwhile. While some are away no task tries.

   A failed trial makes those that accepted Away, and then the trial is over, so that they
   find that they were resumed in vain. After that it changes the state. So on another domain
   a task may be back before it is counted as away. *)
type state = {
  arrived : int;  (** Those in the trial included, until it is over. *)
  away : int;
      (** How many of those were resumed in vain, and have not looked yet. *)
  trying : bool;
  slots : (status Atomic.t, Trial.t) Waiters.t;
}

type t = { parties : int; state : state Atomic.t }

(* What a task waits with; only the task touches it. *)
type arrival = {
  barrier : t;
  initial : status;
  mutable slot : slot;  (** The last one. *)
  mutable accepted : Trial.t;  (** The last one in which the task accepted. *)
}

let nowhere : slot = Waiter.make (Atomic.make Withdrawn)

let arrival barrier initial =
  { barrier; initial; slot = nowhere; accepted = Trial.failed }

let empty = { arrived = 0; away = 0; trying = false; slots = Waiters.empty }
let parties t = t.parties

(* Waiters in a trial are through, or will be back at once. While two meet, [arrived] may be
   -1: see [meet]. *)
let waiters t =
  let s = Atomic.get t.state in
  if s.trying then Waiters.length s.slots else Int.max 0 s.arrived

let missing t =
  let missing = Int.max 0 (t.parties - waiters t) in
  Printf.sprintf "%d of %d parties missing" missing t.parties

let create ?name parties =
  if parties < 1 then
    invalid_arg (Printf.sprintf "Barrier.create: %d tasks" parties);
  let t = { parties; state = Atomic.make empty } in
  Labels.made ~kind:"barrier" ?name t

(* --- Steps ---------------------------------------------------------------- *)

(* May a trial pass, if [given] more arrive? A waiter that is withdrawn may still be counted
   in [arrived]. To try until it is not would wake the others in vain, again and again.
   So only live waiters count here, and each trial that fails finds one more that is
   withdrawn. *)
let is_ready t s ~given =
  s.arrived + given >= t.parties
  && s.away = 0 && (not s.trying)
  &&
  let live = ref given in
  Waiters.iter (fun slot -> if Waiter.is_live slot then incr live) s.slots;
  !live >= t.parties

(* Of a slot. The result is the status before. *)
let vanish status : _ Step.t = Return (Withdrawn, status)

let lose = function
  | Stays -> Step.Return (Away, Stays)
  | (Leaves | Away | Withdrawn) as status -> vanish status

(* [first] are in front of those that came meanwhile. *)
let before first slots =
  let add slot slots =
    if Waiter.is_live slot then Waiters.push_first slots slot else slots
  in
  List.fold_right add first slots

(* What stays the same while a trial goes on. *)
type 'r round = {
  barrier : t;
  trial : Trial.t;
  outcome : (Trial.t, exn) result;
  result : bool -> 'r;
      (** Of the operation: the argument is whether the trial has passed. *)
}

(* The state becomes [s], unless a round may be complete in it. Then a trial begins. *)
let rec settle t s result : _ Step.t =
  if is_ready t s ~given:0 then try_out t s ~given:0 (fun _ -> result)
  else Return (s, result)

(* [given] is 1 if a task arrives by this, without a slot. *)
and try_out barrier s ~given result : _ Step.t =
  let missing = barrier.parties - given in
  let trial = Labels.waited_in ~from:barrier (Trial.create ()) in
  let round = { barrier; trial; outcome = Ok trial; result } in
  Become
    ( { s with trying = true; slots = Waiters.empty },
      ask round ~missing ~withdrawn:0 [] (Waiters.to_list s.slots) )

(* Resumes the first slots, until [missing] more have accepted. It goes on after one has
   refused: many may have been cancelled together, and each would make another trial
   fail, in which others are woken in vain. [asked] have accepted, the last one first, and
   [withdrawn] were made Withdrawn. *)
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

(* Those that accepted are away until they have looked. *)
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

(* Some that are away may be back already. *)
and end_trial { barrier; result; _ } kept ~withdrawn ~away ~has_passed =
  let step s =
    let arrived = s.arrived - withdrawn and away = s.away + away in
    let slots = before kept s.slots in
    settle barrier { arrived; away; trying = false; slots } (result has_passed)
  in
  Then step

let met = Ok Trial.passed

(* Of two parties: the other one decides alone, so that there is no trial. It is not counted
   meanwhile. If it has withdrawn too, its task has counted that, or will. *)
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

(* A choice that has the same barrier twice enlists once: see [Choice.is_enlisted]. *)
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

(* Of a slot. *)
let return_step t (_ : status) : _ Step.t =
  Become (Stays, At (t.state, returned t, finish))

(* Of the last trial of a task that does not wait any more. *)
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

(* The task may make a trial as it comes back, which resumes itself first. Then what a signal
   handler raises comes too late, and a host would drop it (S1). *)
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

(* Another domain may resume the task before this returns. So its slot is known first. *)
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

(* Does nothing if the task is through, or its slot is withdrawn. *)
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

(* To spin in vain would give up the slot that the task has kept. *)
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
