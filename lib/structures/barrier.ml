(* A barrier lets a round of [parties] tasks through when the last one arrives.

   [waiting], the only Atomic here, is the queue [ws] of the tasks that have arrived.

   Left by                   To          By whom
   await, too few in ws      ws + w      the task that waits
   await, two parties      * ws - first  the second task, which hands over to the first; if
                                         the first refuses, the second tries again
   await, three or more    * []          the last task, which resumes all of ws

   In addition, waiters withdraw.

   * linearises the round, with two parties only if the first task accepts. A resumption can't
   be taken back. So with three or more, a waiter that refuses was nevertheless a party of its
   round. *)
type t = { parties : int; waiting : (int, unit) Waiters.t Atomic.t }

let create ?name parties =
  if parties < 1 then
    invalid_arg
      (Printf.sprintf
         "Barrier.create: the number of parties is %d, but must be at least 1"
         parties);
  Observer.made ~kind:"barrier" ?name
    { parties; waiting = Atomic.make Waiters.empty }

let parties t = t.parties

(* --- Steps ---------------------------------------------------------------- *)

let present waiters =
  let n = ref 0 in
  Waiters.iter (fun w -> if Waiter.is_present w then incr n) waiters;
  !n

(* [Waiters.size] is never less than the number of those that are present. [Waiters.length] may
   be, after a waiter has withdrawn while its round went through. A round could then wait for
   one task too many. *)
let is_complete parties waiters =
  let missing = parties - 1 in
  Waiters.size waiters >= missing && present waiters >= missing

let await_step parties waiters : _ Step.t =
  if not (is_complete parties waiters) then Wait
  else if parties = 1 then Return (waiters, ())
  else if parties = 2 then
    Step.to_first waiters (Ok ()) (Waiters.tail waiters) ()
  else Become (Waiters.empty, Step.resume_all waiters (Ok ()) Step.finished)

(* --- The waiters ---------------------------------------------------------- *)

let waiters t = present (Atomic.get t.waiting)

let missing t =
  Printf.sprintf "%d of %d parties missing" (t.parties - waiters t) t.parties

let awaiting =
  {
    Operation.default with
    state = missing;
    name = "Barrier.await";
    spin = Enlisted;
    how =
      By_steps
        {
          word = (fun t -> t.waiting);
          step = await_step;
          queue = (fun change w waiters -> change waiters w);
          left = Step.finished;
        };
  }

(* A task that spins in the queue gives up its place before it sleeps. If a round went through
   at that moment, the task would have been a party, and would wait for the next round. *)
let awaiting_many = { awaiting with spin = Never }
let[@inline] operation t = if t.parties > 2 then awaiting_many else awaiting

(* --- Operations ----------------------------------------------------------- *)

let await t = Operation.perform (operation t) t t.parties
let await_evt t = Event.make_by Once (operation t) t t.parties
