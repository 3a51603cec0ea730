(* [t], the only Atomic here

   State            Left by            To                  By whom
   Unlocked         lock             * Locked (a, [])      any task, a
   Locked (a, [])   unlock           * Unlocked            the owner
   Locked (a, ws)   unlock, w :: _     Locked (w, ws - w)  the owner; it calls w

   and waiters come to [ws], and withdraw.

   * linearises the operation of the task that does it. A lock that waited linearises when
   its resumer answers [true]: the mutex was never unlocked meanwhile, so that no task
   overtakes. If the resumer refuses, the owner unlocks again.

   The owner is [Holders.unknown] unless reports were asked for, and then the state of a
   mutex for which nobody waits is one constant. *)
type state =
  | Unlocked
  | Locked of { owner : Holders.t; waiters : (Holders.t, unit) Waiters.t }

type t = state Atomic.t

let word t = t
let create () = Labels.made ~kind:"mutex" (Atomic.make Unlocked)
let locked = Locked { owner = Holders.unknown; waiters = Waiters.empty }

let locked_by owner waiters =
  if owner == Holders.unknown && Waiters.is_empty waiters then locked
  else Locked { owner; waiters }

(* --- Steps ---------------------------------------------------------------- *)

let lock_step owner : _ -> _ Step.t = function
  | Unlocked -> Return (locked_by owner Waiters.empty, ())
  | Locked _ -> Wait

let not_permitted = Sys_error "Mutex.unlock: Operation not permitted"

let unlock_step () : _ -> _ Step.t = function
  | Unlocked -> Raise not_permitted
  | Locked { waiters; _ } when Waiters.is_empty waiters -> Return (Unlocked, ())
  | Locked { waiters; _ } ->
      let w = Waiters.head waiters in
      Hand_over
        {
          state = locked_by w.arg (Waiters.tail waiters);
          waiter = w;
          outcome = Ok ();
          accepted = Step.finished;
          refused = Again;
        }

(* --- Who waits, who holds it ------------------------------------------------ *)

let queue change w = function
  | Unlocked -> Unlocked
  | Locked { owner; waiters } -> locked_by owner (change waiters w)

let owners t =
  match Atomic.get t with
  | Unlocked -> []
  | Locked { owner; _ } -> Holders.to_list owner

let locking =
  {
    Operation.name = "Mutex.lock";
    spin = Never;
    observe = (fun t -> { Waits.nothing with holders = owners t });
    how =
      By_steps { word = Fun.id; step = lock_step; queue; left = Step.finished };
  }

(* --- Unlocking ------------------------------------------------------------ *)

let[@inline] unlocked t () = Atomic.compare_and_set t locked Unlocked
let try_release t = unlocked t ()

let[@inline never] unlock_slowly t =
  if Waits.are_kept () then
    Misuse.told_before
      (fun () -> Misuse.unlocked_by_other t (owners t))
      (fun () -> Step.surely t unlock_step ())
  else Step.surely t unlock_step ()

let[@inline] unlock t =
  if not (Atomic.compare_and_set t locked Unlocked) then unlock_slowly t

(* --- Locking -------------------------------------------------------------- *)

let try_lock t =
  if Waits.are_kept () then
    Option.is_some (Step.attempt t lock_step (Holders.caller ()))
  else Atomic.compare_and_set t Unlocked locked

(* An owner on another domain may unlock sooner than the caller could suspend and be woken:
   so the caller spins, while nobody has queued. An owner of the same domain cannot. *)
type patience = { times : int; pauses : int  (** In between. *) }

(* Back off from the word, so that the owner may lock and unlock several times in its own
   cache. *)
let backing_off = { times = 2; pauses = Backoff.first }

(* The owner has just signalled, and unlocks at once. *)
let staying_close = { times = 32; pauses = 1 }
let spins = Domain.DLS.new_key Spin.create_at_once

let rec spin t pauses times =
  match Atomic.get t with
  | Unlocked ->
      Atomic.compare_and_set t Unlocked locked || spin_again t pauses times
  | Locked { waiters; _ } ->
      Waiters.is_empty waiters && spin_again t pauses times

and spin_again t pauses times =
  times > 0
  && begin
    ignore (Backoff.wait pauses : int);
    spin t pauses (times - 1)
  end

(* No handler runs after the mutex was locked. *)
let lock_soon t { times; pauses } =
  let learned = Domain.DLS.get spins in
  Spin.begin_turns learned > 0
  &&
  match spin t pauses times with
  | gained ->
      Spin.end_turns learned ~gained;
      gained
  | exception e ->
      let backtrace = Backtrace.get () in
      Spin.leave_turns learned;
      Printexc.raise_with_backtrace e backtrace

let try_lock_signalled t =
  try_lock t || ((not (Waits.are_kept ())) && lock_soon t staying_close)

let wait_for t owner = Operation.wait locking t owner

(* Nothing is allocated after the wait: a signal handler may raise there, and nobody would
   have what was given. *)
let[@inline never] lock_as owner t =
  match Step.attempt t lock_step owner with
  | Some () -> ()
  | None ->
      let otherwise () = Step.surely t unlock_step () in
      Misuse.before_lock t (owners t) (Holders.to_list owner);
      wait_for t owner;
      Holders.taken owner ~otherwise

let[@inline never] lock_slowly t =
  if not (lock_soon t backing_off) then wait_for t Holders.unknown

let[@inline] lock t =
  if Waits.are_kept () then lock_as (Holders.caller ()) t
  else if not (Atomic.compare_and_set t Unlocked locked) then lock_slowly t

(* After this the caller has the mutex, whatever it raises: a signal handler's exception.
   [try_lock] raises before it has locked, never after. *)
let rec lock_again t =
  match try_lock t with
  | true -> ()
  | false -> Suspend.protect (fun () -> lock t)
  | exception e ->
      let backtrace = Backtrace.get () in
      lock_again t;
      Printexc.raise_with_backtrace e backtrace

let lock_as_evt t owner =
  let otherwise () = Step.surely t unlock_step () in
  let finish () = Holders.taken owner ~otherwise in
  Event.make_by (Finish finish) locking t owner

let lock_evt t =
  if Waits.are_kept () then
    Event.guard (fun () -> lock_as_evt t (Holders.caller ()))
  else Event.make locking t Holders.unknown

let protect_as owner t f =
  lock_as owner t;
  Step.within ~fast:unlocked t unlock_step () f

let[@inline never] protect_known t f =
  Holders.within (fun owner -> protect_as owner t f)

let protect t f =
  if Waits.are_kept () then protect_known t f
  else begin
    if not (Atomic.compare_and_set t Unlocked locked) then lock_slowly t;
    Step.within ~fast:unlocked t unlock_step () f
  end

(* --- Looking at it -------------------------------------------------------------- *)

let is_locked t = match Atomic.get t with Unlocked -> false | Locked _ -> true

let waiters t =
  match Atomic.get t with
  | Unlocked -> 0
  | Locked { waiters; _ } -> Waiters.length waiters

let is_empty t = waiters t = 0
