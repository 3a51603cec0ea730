(* [t], the only Atomic here

   State             Left by             To                     By whom
   Unlocked          lock              * Locked (a, [], -)      any task, a
   Locked (a, [], -) unlock            * Unlocked               the owner
   Locked (a, ws, -) unlock, w :: _      Locked (w, ws - w, -)  the owner; it calls w
                     unlock, w sleeps  * Free (ws - w, 0)       the owner; it nudges w
   Locked (a, ws, n) unlock            * Free (ws, n)           the owner
                     unlock, n = most  * Reserved ws            the owner
                     w comes back        Locked (a, (w, ws), -) the nudged task
                     w gives up          Locked (a, ws, -)      the nudged task
   Free (ws, n)      lock              * Locked (a, ws, n + 1)  any task, a: it overtakes
                     lock by w         * Locked (w, ws, -)      the nudged task
                     w gives up          Unlocked, or as after an unlock of Locked (ws, -)
   Reserved ws       lock by w         * Locked (w, ws, -)      the nudged task
                     w gives up          as Free

   and waiters come to [ws], and withdraw.

   * linearises the operation of the task that does it. A lock that waited linearises when
   its resumer answers [true]: the mutex was never unlocked meanwhile, so that no task
   overtakes. If the resumer refuses, the owner unlocks again.

   A thread that sleeps takes so long to continue that a mutex which is handed to it keeps
   all others waiting, who fall asleep in turn: a convoy, which does not dissolve. So a task
   of such a thread is not given the mutex. It is nudged: it tries again, and others may
   overtake it until then, [most] times, which is [Reserved]. If it comes in vain it goes to
   the front of the queue. After [patience] it is given the mutex as any other task is.
   One task at most is nudged at a time.

   The owner is [Holders.unknown] unless reports were asked for, and then the state of a
   mutex for which nobody waits is one constant. *)
type nudged = Not_yet | Patient of int  (** Since when. *) | Impatient

(* Who asks for the mutex. *)
type request = { owner : Holders.t; thread : Sleeper.t; nudged : nudged }
type waiters = (request, unit) Waiters.t

type state =
  | Unlocked
  | Locked of { owner : Holders.t; waiters : waiters; overtaken : int }
      (** [overtaken]: how often the nudged task was, or [nobody]. *)
  | Free of { waiters : waiters; overtaken : int }
  | Reserved of waiters

type t = state Atomic.t

let nobody = -1
let most = 100
let patience_ns = 1_000_000
let word t = t
let create () = Labels.made ~kind:"mutex" (Atomic.make Unlocked)

let locked =
  Locked
    { owner = Holders.unknown; waiters = Waiters.empty; overtaken = nobody }

let[@inline] locked_by owner waiters =
  if owner == Holders.unknown && Waiters.is_empty waiters then locked
  else Locked { owner; waiters; overtaken = nobody }

(* --- Steps ---------------------------------------------------------------- *)

let is_nudged request = request.nudged != Not_yet

let lock_step request : _ -> _ Step.t = function
  | Unlocked -> Return (locked_by request.owner Waiters.empty, ())
  | (Free { waiters; _ } | Reserved waiters) when is_nudged request ->
      Return (locked_by request.owner waiters, ())
  | Free { waiters; overtaken } ->
      let overtaken = overtaken + 1 in
      Return (Locked { owner = request.owner; waiters; overtaken }, ())
  | Locked _ | Reserved _ -> Wait

let not_permitted = Sys_error "Mutex.unlock: Operation not permitted"

let may_be_nudged (w : (request, unit) Waiter.t) =
  Sleeper.is_asleep w.arg.thread && w.arg.nudged != Impatient

let rec unlock_step () : _ -> _ Step.t = function
  | Unlocked | Free _ | Reserved _ -> Raise not_permitted
  | Locked { waiters; overtaken; _ } when overtaken >= most ->
      Return (Reserved waiters, ())
  | Locked { waiters; overtaken; _ } when overtaken > nobody ->
      Return (Free { waiters; overtaken }, ())
  | Locked { waiters; _ } -> hand_over waiters

and hand_over waiters : _ Step.t =
  if Waiters.is_empty waiters then Return (Unlocked, ())
  else
    let w = Waiters.head waiters and waiters = Waiters.tail waiters in
    if may_be_nudged w then
      Hand_over
        {
          state = Free { waiters; overtaken = 0 };
          waiter = w;
          outcome = Error Operation.Nudged;
          accepted = Step.finished;
          refused = Then (give_up_step ());
        }
    else
      Hand_over
        {
          state = locked_by w.arg.owner waiters;
          waiter = w;
          outcome = Ok ();
          accepted = Step.finished;
          refused = Again;
        }

(* The task that was nudged does not come. *)
and give_up_step () : _ -> _ Step.t = function
  | Free { waiters; _ } | Reserved waiters -> hand_over_free waiters
  | Locked { owner; waiters; _ } -> Return (locked_by owner waiters, ())
  | Unlocked -> Return (Unlocked, ())

(* Nobody has the mutex, so that a waiter which refuses leaves it free. *)
and hand_over_free waiters =
  Become (locked_by Holders.unknown waiters, Then (unlock_step ()))

(* --- Who waits, who holds it ------------------------------------------------ *)

(* A nudged task that comes to the queue, or withdraws from it, is not on its way any more.
   Nobody else is, while it is in the queue. *)
let queue change (w : (request, unit) Waiter.t) = function
  | Unlocked -> Unlocked
  | Free { waiters; overtaken } ->
      Free { waiters = change waiters w; overtaken }
  | Locked { owner; waiters; overtaken } ->
      let waiters = change waiters w
      and overtaken = if is_nudged w.arg then nobody else overtaken in
      if overtaken = nobody then locked_by owner waiters
      else Locked { owner; waiters; overtaken }
  | Reserved waiters -> Reserved (change waiters w)

let owner_of t =
  match Atomic.get t with
  | Unlocked | Free _ | Reserved _ -> Holders.unknown
  | Locked { owner; _ } -> owner

let owners t = Holders.to_list (owner_of t)

let locking =
  {
    Operation.default with
    name = "Mutex.lock";
    holders = owners;
    how =
      By_steps { word = Fun.id; step = lock_step; queue; left = Step.finished };
  }

(* Of a nudged task, which goes to the front. *)
let locking_again =
  let enlist t w = Step.enlist t lock_step (fun _ -> queue Waiters.push_first) w
  and withdraw t w = Step.withdraw t queue Step.finished w
  and attempt t request = Step.attempt t lock_step request in
  { locking with how = By_hand { attempt; enlist; withdraw } }

let again request =
  match request.nudged with
  | Not_yet -> { request with nudged = Patient (Sleeper.now_ns ()) }
  | Patient since when Sleeper.now_ns () - since > patience_ns ->
      { request with nudged = Impatient }
  | Patient _ | Impatient -> request

let rec wait_again t request =
  let request = again request in
  match Step.attempt t lock_step request with
  | Some () -> ()
  | None -> (
      match Operation.suspend locking_again t request with
      | () -> ()
      | exception Operation.Nudged -> wait_again t request)

(* If anything is raised, the task may have been nudged. At worst another task is not waited
   for any more that was nudged since: it goes to the front all the same. *)
let[@inline] or_give_up wait t request =
  match wait t request with
  | () -> ()
  | exception e ->
      let backtrace = Backtrace.get () in
      Step.surely t give_up_step ();
      Printexc.raise_with_backtrace e backtrace

let[@inline never] wait_for t request =
  match Operation.suspend locking t request with
  | () -> ()
  | exception Operation.Nudged -> or_give_up wait_again t request
  | exception e when request.thread != Sleeper.never ->
      let backtrace = Backtrace.get () in
      Step.surely t give_up_step ();
      Printexc.raise_with_backtrace e backtrace

(* --- Unlocking ------------------------------------------------------------ *)

let[@inline] unlocked t () = Atomic.compare_and_set t locked Unlocked
let try_release t = unlocked t ()

let[@inline never] unlock_slowly t =
  Holders.before_unlock t ~owner:(owner_of t);
  Step.surely t unlock_step ()

let[@inline] unlock t =
  if not (Atomic.compare_and_set t locked Unlocked) then unlock_slowly t

(* --- Locking -------------------------------------------------------------- *)

let[@inline] lock_now t owner =
  Atomic.compare_and_set t Unlocked
    (if owner == Holders.unknown then locked else locked_by owner Waiters.empty)

let anybody =
  { owner = Holders.unknown; thread = Sleeper.never; nudged = Not_yet }

let request owner thread =
  if owner == Holders.unknown && thread == Sleeper.never then anybody
  else { anybody with owner; thread }

(* Overtakes the task that was nudged. *)
let[@inline never] lock_free t owner =
  match Atomic.get t with
  | Free _ ->
      Option.is_some (Step.attempt t lock_step (request owner Sleeper.never))
  | Unlocked | Locked _ | Reserved _ -> false

let try_lock t =
  let owner = Holders.caller () in
  lock_now t owner || lock_free t owner

let lock_unlocked t owner () =
  match Atomic.get t with
  | Unlocked when lock_now t owner -> Some ()
  | Free _ when lock_free t owner -> Some ()
  | Unlocked | Locked _ | Free _ | Reserved _ -> None

(* An owner on another domain may unlock sooner than the caller could suspend and be woken. *)
let lock_soon t owner =
  Option.is_some (Operation.spin Spin.mutex lock_unlocked t owner ())

let try_lock_soon t =
  let owner = Holders.caller () in
  lock_now t owner || lock_free t owner || lock_soon t owner

(* Nothing is allocated after the wait: a signal handler may raise there, and nobody would
   have what was given. *)
let[@inline never] lock_slowly t owner =
  if not (lock_free t owner || lock_soon t owner) then begin
    Holders.before_lock owner t ~owner:owner_of;
    Holders.waits owner;
    wait_for t (request owner (Sleeper.mine ()));
    Holders.taken owner
  end

let[@inline] lock_as owner t =
  if not (lock_now t owner) then lock_slowly t owner

let[@inline] lock t = lock_as (Holders.taker ()) t

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

let lock_as_evt owner t =
  let taken () = Holders.taken owner in
  Event.make_by (Finish taken) locking t (request owner Sleeper.never)

let lock_evt t = Holding.event lock_as_evt t

let[@inline] protect_as owner t f =
  lock_as owner t;
  Step.within ~fast:unlocked t unlock_step () f

let[@inline never] protect_known t f =
  Holders.within (fun owner -> protect_as owner t f)

let protect t f =
  if Holders.are_known () then protect_known t f
  else protect_as Holders.unknown t f

(* --- Looking at it -------------------------------------------------------------- *)

let is_locked t =
  match Atomic.get t with
  | Unlocked | Free _ -> false
  | Locked _ | Reserved _ -> true

(* With the one that was nudged. *)
let waiters t =
  match Atomic.get t with
  | Unlocked -> 0
  | Locked { waiters; overtaken; _ } ->
      Waiters.length waiters + if overtaken > nobody then 1 else 0
  | Free { waiters; _ } | Reserved waiters -> Waiters.length waiters + 1

let is_empty t = waiters t = 0
