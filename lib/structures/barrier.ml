(* [phase], the only Atomic here

   Left by            To                       By whom
   await            * (k, n + 1, (ws, w))      the task that waits, if others are
                                               missing
   await            * (k + 1, 0, [])           the last task; it calls all of ws
   cancelled await  * (k, n - 1, ws - w)       the task that added w, if the phase
                                               is still k

   * linearises the arrival, or its withdrawal. *)
type phase = {
  number : int;
  arrived : int;  (** Waiters that were not withdrawn. *)
  waiters : (int ref, unit) Waiters.t;
}

type t = { parties : int; phase : phase Atomic.t }

(* The argument of a waiter is the phase in which it has arrived; or [none], if it has
   not, or has withdrawn. Only the task that waits touches it. *)
let none = -1
let start number = { number; arrived = 0; waiters = Waiters.empty }

let create parties =
  if parties < 1 then invalid_arg "Barrier.create: fewer than 1 task";
  { parties; phase = Atomic.make (start 0) }

let parties t = t.parties
let waiters t = (Atomic.get t.phase).arrived

(* What the last task does that arrives; nothing if others are missing. A choice may
   have refused the last one, because another alternative seemed ready, which then
   was not: it has arrived all the same, and is through. *)
let rec attempt t arg =
  let ({ number; arrived; waiters } as before) = Atomic.get t.phase in
  if !arg <> none && !arg <> number then Some ()
  else if arrived + 1 < t.parties then None
  else
    let round = Waiters.round waiters (Ok ()) in
    if Atomic.compare_and_set t.phase before (start (number + 1)) then begin
      Waiters.resume_all round;
      Some ()
    end
    else (* one more arrived, or left *) attempt t arg

(* It waits for the same barrier in another alternative: a choice arrives once. *)
let has_arrived (w : (int ref, unit) Suspend.waiter) waiters =
  w.choice != Waiter.no_choice
  && Waiters.exists (Waiter.of_same_choice w) waiters

let rec enlist t (w : (int ref, unit) Suspend.waiter) =
  let ({ number; arrived; waiters } as before) = Atomic.get t.phase in
  w.arg := none;
  has_arrived w waiters
  || arrived + 1 < t.parties
     && begin
       w.arg := number;
       let waiters = Waiters.push waiters w in
       Atomic.compare_and_set t.phase before
         { number; arrived = arrived + 1; waiters }
       ||
       (* one more arrived, or left *)
       enlist t w
     end

let rec withdraw t (w : (int ref, unit) Suspend.waiter) =
  let ({ number; arrived; waiters } as before) = Atomic.get t.phase in
  if number = !(w.arg) then
    let waiters = Waiters.withdraw waiters in
    let after = { number; arrived = arrived - 1; waiters } in
    if Atomic.compare_and_set t.phase before after then w.arg := none
    else (* another one arrived or left *) withdraw t w

let awaiting = { Suspend.attempt; enlist; withdraw }

let await t =
  let arg = ref none in
  match attempt t arg with Some () -> () | None -> Suspend.wait awaiting t arg

let await_evt t = Event.guard (fun () -> Event.make awaiting t (ref none))
