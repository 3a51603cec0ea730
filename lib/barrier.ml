open Concord_internal

(* The last task to arrive cannot know whether the others still wait: a task that was
   cancelled, or chose otherwise, and has not withdrawn yet looks like any other, and
   only its resumer tells. A resumption cannot be taken back either. So it means no
   more than "go and look": the last task makes a trial, in which it resumes all
   others. If all accept, the trial has passed, and with it the round. If one refuses,
   those who were resumed find that the trial has failed, and go on waiting.

   [verdict], of one trial

   State  Left by            To      By whom
   Open   all accepted     * Passed  who makes the trial
          one refused        Failed  who makes the trial
          a look, cancelled  Failed  a task that was resumed, is cancelled, and had
                                     to wait for the verdict
   Passed, Failed  never (terminal)

   * linearises the round: the arrival of the last task, and all that return.
   Debt: who makes the trial ends it in [state], then fills [over]. *)
type verdict = Open | Passed | Failed
type trial = { verdict : verdict Atomic.t; over : unit Promise.t }

(* The status of a place, one for each arrival

   State   Left by           To     By whom
   Stays   a failed trial    Away   who made the trial, which resumed the task
   Leaves  a failed trial    Gone   the same
   Away    its task is back  Stays  the task, which waits again
   any     refused           Gone   who makes the trial
           withdrawn         Gone   the task
   Gone    never (terminal)

   Debt: whoever makes it Gone takes it out of [arrived], once; and out of [away], if
   it was Away; who makes it Away or Stays counts it in [away].

   [Leaves] is the place of an event: if it was resumed in vain it chooses again, and
   arrives anew. A task that waits for nothing else comes back to its place. *)
type status = Stays | Leaves | Away | Gone
type place = (status Atomic.t, trial) Waiter.t

(* [state]

   Left by          To                              By whom
   a waiter         one more place                  the task that waits
   a withdrawal     one place less                  its task, which then settles
   its return       one less away                   its task, which then settles
   the last task    [trying], without its places    the task, or who settles
   a passed trial   not [trying], so many less      who made the trial; it settles
   a failed trial   not [trying]; with the places   who made the trial; it settles
                    of those who did not refuse

   While somebody tries, the queue has the places of those who come meanwhile, and
   perhaps of those who were not needed. A trial that many of them wait for is made by
   whoever ends the last one; one that waits for those who are away, by the last of
   them. *)
type state = {
  arrived : int;  (** Those in the trial included, until it is over. *)
  away : int;  (** Of those: who was resumed in vain, and did not look yet. *)
  trying : bool;
  places : (status Atomic.t, trial) Waiters.t;
}

type t = { parties : int; state : state Atomic.t }

(* What a task waits with; only the task touches it. *)
type arrival = { initial : status; mutable place : place  (** The last one. *) }

let nowhere : place = Waiter.make (Atomic.make Gone)
let arrival initial = { initial; place = nowhere }
let nobody = { arrived = 0; away = 0; trying = false; places = Waiters.empty }

let create parties =
  if parties < 1 then invalid_arg "Barrier.create: fewer than 1 task";
  { parties; state = Atomic.make nobody }

let parties t = t.parties
let waiters t = (Atomic.get t.state).arrived

let rec update t f =
  let before = Atomic.get t.state in
  if not (Atomic.compare_and_set t.state before (f before)) then
    (* any other transition *)
    update t f

(* --- A trial -------------------------------------------------------------- *)

(* May a trial pass, if [given] more arrive? One that has left may not be taken out of
   [arrived] yet. Who would try until then would wake the others in vain, again and
   again; so only a task that still seems to wait counts, and each trial that fails
   finds one that does not. *)
let is_ready t s ~given =
  s.arrived + given >= t.parties
  && s.away = 0 && (not s.trying)
  &&
  let live = ref given in
  Waiters.iter (fun place -> if Waiter.is_live place then incr live) s.places;
  !live >= t.parties

(* Resumes the first of [places], until [missing] have accepted. It goes on after one
   has refused: many may have been cancelled together, and each would make another
   trial fail, in which others are woken in vain. Returns how many were asked,
   accepted, and refused. One that withdraws by itself is not counted as refused. *)
let ask trial places ~missing =
  let asked = ref 0 and accepted = ref 0 and refused = ref 0 in
  let ask place =
    if !accepted < missing then begin
      incr asked;
      if Waiter.accepts place trial then incr accepted
      else if Atomic.exchange place.Waiter.arg Gone <> Gone then incr refused
    end
  in
  Waiters.iter ask places;
  (!asked, !accepted, !refused)

(* Those of [places] of which [keep i place] holds. *)
let filteri keep places =
  let i = ref (-1) and kept = ref Waiters.empty in
  let look place =
    incr i;
    if keep !i place then kept := Waiters.push !kept place
  in
  Waiters.iter look places;
  !kept

let append first second =
  if Waiters.is_empty first then second
  else begin
    let all = ref first in
    Waiters.iter (fun place -> all := Waiters.push !all place) second;
    !all
  end

(* [kept] are in front of those who came meanwhile. *)
let end_trial t trial kept ~gone ~away =
  let after s =
    let live = filteri (fun _ place -> Waiter.is_live place) kept in
    {
      arrived = s.arrived - gone;
      away = s.away + away;
      trying = false;
      places = append live s.places;
    }
  in
  update t after;
  Promise.fill trial.over ()

(* Whoever calls it has made the state [trying]. [given] is 1 if the caller arrives by
   it, without a place. *)
let rec try_out t places ~given =
  let trial = { verdict = Atomic.make Open; over = Promise.create () } in
  let missing = t.parties - given in
  let asked, accepted, refused = ask trial places ~missing in
  let passed =
    accepted = missing && Atomic.compare_and_set trial.verdict Open Passed
  in
  if passed then
    let kept = filteri (fun i _ -> i >= asked) places in
    end_trial t trial kept ~gone:(missing + refused) ~away:0
  else begin
    Atomic.set trial.verdict Failed;
    let gone = ref refused and away = ref 0 in
    let stays i place =
      let status = place.Waiter.arg in
      i >= asked
      || Atomic.compare_and_set status Stays Away
         && begin
           incr away;
           true
         end
      || begin
        if Atomic.exchange status Gone <> Gone then incr gone;
        false
      end
    in
    let kept = filteri stays places in
    end_trial t trial kept ~gone:!gone ~away:!away
  end;
  settle t;
  passed

(* To be called after each step by which a round may be complete. *)
and settle t =
  let s = Atomic.get t.state in
  if is_ready t s ~given:0 then
    if start t s then ignore (try_out t s.places ~given:0 : bool)
    else (* any other transition *) settle t

and start t s =
  let trying = { s with trying = true; places = Waiters.empty } in
  Atomic.compare_and_set t.state s trying

(* Those who were resumed were told to look. *)
let rec has_passed trial =
  match Atomic.get trial.verdict with
  | Passed -> true
  | Failed when Promise.is_resolved trial.over -> false
  | Open | Failed -> (
      match Promise.await trial.over with
      | () -> has_passed trial
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          ignore (Atomic.compare_and_set trial.verdict Open Failed : bool);
          Atomic.get trial.verdict = Passed
          || Printexc.raise_with_backtrace e backtrace)

(* --- Waiting -------------------------------------------------------------- *)

let passed = { verdict = Atomic.make Passed; over = Promise.of_value () }

let rec attempt t arrival =
  let s = Atomic.get t.state in
  if t.parties = 1 then Some passed
  else if not (is_ready t s ~given:1) then None
  else if not (start t s) then (* any other transition *) attempt t arrival
  else if try_out t s.places ~given:1 then Some passed
  else None

(* It waits for the same barrier in another alternative: a choice arrives once. *)
let has_arrived (w : (arrival, trial) Suspend.waiter) s =
  w.choice != Waiter.no_choice
  && Waiters.exists (fun place -> place.Waiter.choice == w.choice) s.places

let rec arrive t (w : (arrival, trial) Suspend.waiter) place =
  let s = Atomic.get t.state in
  has_arrived w s
  || (not (is_ready t s ~given:1))
     && begin
       let places = Waiters.push s.places place in
       if
         Atomic.compare_and_set t.state s
           { s with arrived = s.arrived + 1; places }
       then begin
         w.arg.place <- place;
         true
       end
       else (* any other transition *) arrive t w place
     end

let come_back t (w : (arrival, trial) Suspend.waiter) =
  let { place; _ } = w.arg in
  place.resume <- w.resume;
  Atomic.set place.arg Stays;
  update t (fun s -> { s with away = s.away - 1 });
  settle t

let enlist t (w : (arrival, trial) Suspend.waiter) =
  if w.arg.place != nowhere && Atomic.get w.arg.place.arg = Away then begin
    come_back t w;
    true
  end
  else begin
    let place = Waiter.make_alternative w.choice (Atomic.make w.arg.initial) in
    place.resume <- w.resume;
    arrive t w place
  end

(* Does nothing if it has left. *)
let leave t { place; _ } =
  if place != nowhere then begin
    Waiter.leave place;
    let status = Atomic.exchange place.arg Gone in
    if status <> Gone then begin
      let away = if status = Away then 1 else 0 in
      let after s =
        {
          s with
          arrived = s.arrived - 1;
          away = s.away - away;
          places = Waiters.withdraw s.places;
        }
      in
      update t after;
      settle t
    end
  end

let awaiting =
  {
    Suspend.attempt;
    enlist;
    withdraw = (fun t (w : (arrival, trial) Suspend.waiter) -> leave t w.arg);
  }

let await t =
  let arrival = arrival Stays in
  let rec wait () =
    if not (has_passed (Suspend.wait awaiting t arrival)) then wait ()
  in
  match attempt t arrival with
  | Some _ -> ()
  | None -> (
      try wait ()
      with e ->
        let backtrace = Printexc.get_raw_backtrace () in
        leave t arrival;
        Printexc.raise_with_backtrace e backtrace)

let await_evt t =
  Event.guard @@ fun () ->
  Event.wrap
    (Event.make_tentative ~confirm:has_passed awaiting t (arrival Leaves))
    (fun (_ : trial) -> ())
