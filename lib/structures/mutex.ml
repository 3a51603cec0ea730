(* [t], the only Atomic here

   State         Left by           To            By whom
   Unlocked      lock            * Locked        any task
   Locked        unlock          * Unlocked      the owner
                 a waiter          Queue [w]     the task that waits
   Queue ws      a waiter          Queue (ws, w) the task that waits
                 cancelled waiter  Queue (ws - w), or Locked
                                                 the task that enlisted w
                 unlock, ws = w::_ Queue (ws - w), or Locked
                                                 the owner; it calls w

   * linearises the operation of the task that does it. A lock that waited linearises
   when its resumer answers [true]: the mutex was never unlocked meanwhile, so that
   no task overtakes. If the resumer refuses, the owner unlocks again. *)
type state = Unlocked | Locked | Queue of (unit, unit) Waiters.t
type t = state Atomic.t

let create () = Atomic.make Unlocked
let locked waiters = if Waiters.is_empty waiters then Locked else Queue waiters

(* --- Locking -------------------------------------------------------------- *)

let try_lock t = Atomic.compare_and_set t Unlocked Locked

let rec enlist t w =
  match Atomic.get t with
  | Unlocked -> false
  | Locked ->
      Atomic.compare_and_set t Locked (Queue (Waiters.push Waiters.empty w))
      ||
      (* unlocked, or another waiter *)
      enlist t w
  | Queue waiters as before ->
      Atomic.compare_and_set t before (Queue (Waiters.push waiters w))
      ||
      (* unlocked, another waiter, or a withdrawal *)
      enlist t w

let withdraw t _ =
  Atomically.update t @@ function
  | (Unlocked | Locked) as state -> state
  | Queue waiters -> locked (Waiters.count_gone waiters)

let locking =
  {
    Operation.attempt = (fun t () -> if try_lock t then Some () else None);
    enlist;
    withdraw;
  }

let lock t = if not (try_lock t) then Operation.wait locking t ()
let lock_evt t = Event.make locking t ()

(* --- Unlocking ------------------------------------------------------------ *)

let rec hand_over t =
  match Atomic.get t with
  | Unlocked -> raise (Sys_error "Mutex.unlock: Operation not permitted")
  | Locked ->
      if not (Atomic.compare_and_set t Locked Unlocked) then
        (* a waiter came *)
        hand_over t
  | Queue waiters as before ->
      let w = Waiters.head waiters in
      let after = locked (Waiters.tail waiters) in
      if not (Atomic.compare_and_set t before after && Waiter.resume w (Ok ()))
      then
        (* a waiter came or withdrew; or [w] refused *)
        hand_over t

let unlock t =
  if not (Atomic.compare_and_set t Locked Unlocked) then hand_over t

let protect t f =
  lock t;
  match f () with
  | v ->
      unlock t;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      unlock t;
      Printexc.raise_with_backtrace e backtrace

(* --- Looking -------------------------------------------------------------- *)

let is_locked t = Atomic.get t != Unlocked

let waiters t =
  match Atomic.get t with
  | Unlocked | Locked -> 0
  | Queue waiters -> Waiters.length waiters
