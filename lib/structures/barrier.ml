(* The last task to arrive cannot know whether the others still wait: a task that was
   cancelled, or chose otherwise, and has not withdrawn yet looks like any other, and
   only its resumer tells. A resumption cannot be taken back either. So a resumption
   means no more than "go and look": the last task makes a trial, in which it resumes
   the others. If enough accept, the trial has passed, and with it the round. Else the
   tasks that were resumed find that it has failed, and wait again. *)

(* The status of a place, one for each arrival

   State   Left by           To     By whom
   Stays   a failed trial    Away   the trial's task, which resumed the waiter
   Leaves  a failed trial    Gone   the trial's task
   Away    its task is back  Stays  the task, which waits again
   any     refused           Gone   the trial's task
           withdrawn         Gone   the task
   Gone    never (terminal)

   Debt: the task that makes a place Gone takes it out of [arrived], once, and out of
   [away] if it was Away. The task that makes it Away, or takes it back to Stays, counts
   that in [away].

   [Leaves] is the place of an event: resumed in vain, the event chooses again and
   arrives anew. A task that waits for nothing else comes back to its place. *)
type status = Stays | Leaves | Away | Gone
type place = (status Atomic.t, Trial.t) Waiter.t

(* [state]

   Left by          To                              By whom
   a waiter         one more place                  the task that waits
   a withdrawal     one place less                  its task, which then settles
   its return       one less away                   its task, which then settles
   the last task    [trying], without its places    the task, or one that settles
   a passed trial   not [trying], so many less      the trial's task; it settles
   a failed trial   not [trying]; with the places   the trial's task; it settles
                    of those that did not refuse

   While a task tries, the queue has only the waiters that come meanwhile. If they are
   enough for a round, the task that ends the trial makes the next one, when it settles.
   While some are away no task tries: the last of them that is back, or withdraws, does.
   *)
type state = {
  arrived : int;  (** Those in the trial included, until it is over. *)
  away : int;
      (** How many of those were resumed in vain, and have not looked yet. *)
  trying : bool;
  places : (status Atomic.t, Trial.t) Waiters.t;
}

type t = { parties : int; state : state Atomic.t }

(* What a task waits with; only the task touches it. *)
type arrival = { initial : status; mutable place : place  (** The last one. *) }

let nowhere : place = Waiter.make (Atomic.make Gone)
let arrival initial = { initial; place = nowhere }
let empty = { arrived = 0; away = 0; trying = false; places = Waiters.empty }
let parties t = t.parties

(* Waiters in a trial are through, or will be back at once. *)
let waiters t =
  let s = Atomic.get t.state in
  if s.trying then Waiters.length s.places else s.arrived

let missing t () =
  let missing = Int.max 0 (t.parties - waiters t) in
  Printf.sprintf " (%d of %d parties missing)" missing t.parties

let create ?name parties =
  if parties < 1 then invalid_arg "Barrier.create: fewer than 1 task";
  let t = { parties; state = Atomic.make empty } in
  Labels.made ~kind:"barrier" ?name ~details:(missing t) t

(* --- A trial -------------------------------------------------------------- *)

(* May a trial pass, if [given] more arrive? A waiter that is gone may still be counted
   in [arrived]. To try until it is not would wake the others in vain, again and again.
   So only live waiters count here, and each trial that fails finds one more that is
   gone. *)
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
   accepted, and refused, and those who were not asked. One that withdraws by itself
   is not counted as refused, and one whose resumer raises has accepted. *)
let ask debt trial places ~missing =
  let outcome = Ok trial in
  let asked = ref 0 and accepted = ref 0 and refused = ref 0 in
  let rest = ref Waiters.empty in
  let ask place =
    if !accepted = missing then rest := Waiters.push !rest place
    else begin
      incr asked;
      if Debt.resume debt place outcome then incr accepted
      else if Atomic.exchange place.Waiter.arg Gone <> Gone then incr refused
    end
  in
  Waiters.iter ask places;
  (!asked, !accepted, !refused, !rest)

let append first second =
  let all = ref first in
  Waiters.iter (fun place -> all := Waiters.push !all place) second;
  !all

(* [first] are in front of those that came meanwhile; some may be gone. *)
let before first places =
  if Waiters.is_empty first then places
  else begin
    let all = ref Waiters.empty in
    let keep place =
      if Waiter.is_live place then all := Waiters.push !all place
    in
    Waiters.iter keep first;
    append !all places
  end

(* The first of [places] were [asked]: those that accepted are away until they have
   looked. Returns how many were made Gone, are away, and the places that are left. *)
let take_back places ~asked =
  let gone = ref 0 and away = ref 0 and kept = ref Waiters.empty in
  let i = ref 0 in
  let look place =
    let status = place.Waiter.arg in
    let is_kept =
      !i >= asked
      || Atomic.compare_and_set status Stays Away
         && begin
           incr away;
           true
         end
    in
    incr i;
    if is_kept then kept := Waiters.push !kept place
    else if Atomic.exchange status Gone <> Gone then incr gone
  in
  Waiters.iter look places;
  (!gone, !away, !kept)

let rec end_trial t kept ~gone ~away =
  let s = Atomic.get t.state in
  let after =
    {
      arrived = s.arrived - gone;
      away = s.away + away;
      trying = false;
      places = before kept s.places;
    }
  in
  if not (Atomic.compare_and_set t.state s after) then
    (* a waiter came or withdrew *)
    end_trial t kept ~gone ~away

(* [f x], but what a resumer raises is noted: then [f] has done what it does, and is asked
   again for its result. *)
let rec noting debt f x =
  try f x
  with e ->
    Debt.note debt e;
    noting debt f x

(* The caller has made the state [trying]. [given] is 1 if the caller arrives by this,
   without a place. *)
let rec try_out t places ~given =
  let debt = Debt.owing () in
  let missing = t.parties - given in
  let trial = if missing = 1 then Trial.passed else Trial.create () in
  let asked, accepted, refused, rest = ask debt trial places ~missing in
  let is_passed = accepted = missing && noting debt Trial.pass trial in
  if is_passed then end_trial t rest ~gone:(missing + refused) ~away:0
  else begin
    Trial.fail trial;
    let gone, away, kept = take_back places ~asked in
    end_trial t kept ~gone:(gone + refused) ~away;
    if accepted > 0 then
      begin try Trial.over trial with e -> Debt.note debt e
      end
  end;
  noting debt settle t;
  Debt.raise_noted debt;
  is_passed

(* To be called after each step by which a round may be complete. *)
and settle t =
  let s = Atomic.get t.state in
  if is_ready t s ~given:0 then
    if start t s then ignore (try_out t s.places ~given:0 : bool)
    else (* any other transition *) settle t

and start t s =
  let trying = { s with trying = true; places = Waiters.empty } in
  Atomic.compare_and_set t.state s trying

(* --- Waiting -------------------------------------------------------------- *)

let rec attempt t arrival =
  let s = Atomic.get t.state in
  if t.parties = 1 then Some Trial.passed
  else if not (is_ready t s ~given:1) then None
  else if not (start t s) then (* any other transition *) attempt t arrival
  else if try_out t s.places ~given:1 then Some Trial.passed
  else None

(* A choice that has the same barrier twice enlists once: see [Choice.is_enlisted]. *)
let rec arrive t (w : (arrival, Trial.t) Waiter.t) place =
  let s = Atomic.get t.state in
  (not (is_ready t s ~given:1))
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

let come_back t (w : (arrival, Trial.t) Waiter.t) =
  let { place; _ } = w.arg in
  place.resumer <- w.resumer;
  Atomic.set place.arg Stays;
  Atomically.update t.state (fun s -> { s with away = s.away - 1 });
  settle t

let enlist t (w : (arrival, Trial.t) Waiter.t) =
  if w.arg.place != nowhere && Atomic.get w.arg.place.arg = Away then begin
    come_back t w;
    true
  end
  else begin
    let place = Waiter.make_alternative w.choice (Atomic.make w.arg.initial) in
    place.resumer <- w.resumer;
    arrive t w place
  end

(* Does nothing if the waiter is gone. *)
let leave t { place; _ } =
  if place != nowhere then begin
    Waiter.mark_gone place;
    let status = Atomic.exchange place.arg Gone in
    if status <> Gone then begin
      let away = if status = Away then 1 else 0 in
      let after s =
        {
          s with
          arrived = s.arrived - 1;
          away = s.away - away;
          places = Waiters.count_gone s.places;
        }
      in
      Atomically.update_surely t.state after;
      settle t
    end
  end

let awaiting =
  {
    Operation.default with
    name = "Barrier.await";
    spin = Enlisted;
    how =
      By_hand
        {
          attempt;
          enlist;
          withdraw = (fun t (w : (arrival, Trial.t) Waiter.t) -> leave t w.arg);
        };
  }

(* To spin in vain would give up the place that the task has kept. *)
let rec wait_again t arrival =
  if not (Trial.has_passed (Operation.suspend awaiting t arrival)) then
    wait_again t arrival

let wait t arrival =
  if not (Trial.has_passed (Operation.wait awaiting t arrival)) then
    wait_again t arrival

let await t =
  let arrival = arrival Stays in
  match attempt t arrival with
  | Some _ -> ()
  | None -> (
      try wait t arrival
      with e ->
        let backtrace = Printexc.get_raw_backtrace () in
        leave t arrival;
        Printexc.raise_with_backtrace e backtrace)

let await_evt t =
  Event.guard @@ fun () ->
  Event.wrap
    (Event.make_by (Tentative_once Trial.has_passed) awaiting t (arrival Leaves))
    (fun (_ : Trial.t) -> ())
