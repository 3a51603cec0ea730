(* [state], the only Atomic here. [holders]: how many tasks hold the lock to read, or
   [writer] if one holds it to write.

   Left by           To                                  By whom
   lock            * one more holder, or [writer]        any task that none precedes
   unlock          * one holder less                     a holder; then it settles
   settle          * the first waiter out of its queue, and one more holder, or
                     [writer]                            anyone; it calls the waiter
   refused waiter    one holder less                     the task that called it;
                                                         settles
   a waiter          in its queue                        the task that waits
   cancelled waiter  out of its queue                    the task that enlisted it;
                                                         settles

   * linearises the operation of the task that does it, and [settle] that of the waiter,
   if the resumer answers [true].

   The waiters in [first] precede those in [second], and newcomers of their kind. All
   wait in [first] if the lock is fair; else only writers do. A task that changes the
   state so that the first waiter could be served settles: by a release, or by a
   withdrawal, if the waiters behind it can share the lock with its holders. Debt: it goes
   on until no waiter can be served, whatever is raised meanwhile. *)
type mode = Read | Write

type state = {
  holders : int;
  first : (mode, unit) Waiters.t;
  second : (mode, unit) Waiters.t;
}

let writer = -1
let free = { holders = 0; first = Waiters.empty; second = Waiters.empty }

(* --- Serving those who wait ----------------------------------------------- *)

let admits s = function Read -> s.holders >= 0 | Write -> s.holders = 0

(* Without waiters a state is its number of holders. Those with few readers are shared: they
   need not be allocated, nor fetched from the core that has allocated them. *)
let few = 64
let reading = Array.init (few + 1) (fun holders -> { free with holders })
let written = { free with holders = writer }

let with_holders s holders =
  if not (Waiters.is_empty s.first && Waiters.is_empty s.second) then
    { s with holders }
  else if holders = writer then written
  else if holders <= few then Array.unsafe_get reading holders
  else { s with holders }

let with_one_more s = function
  | Read -> with_holders s (s.holders + 1)
  | Write -> with_holders s writer

let with_one_less s =
  with_holders s (if s.holders = writer then 0 else s.holders - 1)

type duty = Serve | Leave  (** For a waiter that has refused. *) | Served

let rec serve t (debt : duty Debt.t) =
  match debt.owed with
  | Served -> ()
  | Serve ->
      serve_once t debt;
      serve t debt
  | Leave ->
      Atomically.update t with_one_less;
      debt.owed <- Serve;
      serve t debt

(* A failed compare-and-set is any other transition. *)
and serve_once t debt =
  let s = Atomic.get t in
  let from_first = not (Waiters.is_empty s.first) in
  let queue = if from_first then s.first else s.second in
  if Waiters.is_empty queue then debt.owed <- Served
  else
    let w = Waiters.head queue in
    let rest = Waiters.tail queue in
    let s' =
      if from_first then { s with first = rest } else { s with second = rest }
    in
    if not (Waiter.is_live w) then ignore (Atomic.compare_and_set t s s' : bool)
    else if not (admits s w.arg) then debt.owed <- Served
    else if
      Atomic.compare_and_set t s (with_one_more s' w.arg)
      && not (Debt.resume debt w (Ok ()))
    then debt.owed <- Leave

let rec settle t =
  match Debt.owing Serve with
  | debt -> Debt.pay serve t debt
  | exception e ->
      (* a signal handler's *)
      settle t;
      raise e
