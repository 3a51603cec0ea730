(* A lock without readers. It is a {!Permits} with [Permits.all] permits, and the task that
   locks it takes all of them. [Permits] has the table of states, and decides the order in
   which tasks are served.

   The state names the owner in [rare.known], but only while waits are kept for reports. If the
   list is empty, the owner is [Holders.unknown]. *)
type t = Permits.t

let[@inline] word t = t
let locked = Permits.few_free 0
let unlocked = Permits.few_taken 0
let kind = "mutex"
let made t = Observer.made ~kind t
let create () = made (Permits.make Permits.all)
let create_in_order () = made (Permits.make ~in_order:true Permits.all)
let anybody = Permits.request Permits.all

let request owner =
  if owner == Holders.unknown then anybody else { anybody with owner }

(* --- Steps ---------------------------------------------------------------- *)

let not_permitted = Sys_error "Mutex.unlock: Operation not permitted"

let unlock_step () (s : Permits.state) : _ Step.t =
  if Permits.free_of s > 0 then Raise not_permitted else Permits.give anybody s

(* --- Trying to lock ------------------------------------------------------- *)

let[@inline] lock_now t owner =
  owner == Holders.unknown && Atomic.compare_and_set t unlocked locked

let[@inline never] try_slowly t owner =
  Permits.free_of (Atomic.get t) > 0
  && Option.is_some (Step.attempt t Permits.take (request owner))

let try_lock_as t owner = lock_now t owner || try_slowly t owner

(* --- The waiters and the owner -------------------------------------------- *)

let owner_of t =
  match (Permits.rare_of (Atomic.get t)).known with
  | [] -> Holders.unknown
  | owner :: _ -> owner

let owners t = Holders.to_list (owner_of t)

(* Spinning is worthwhile because an owner on another domain may unlock sooner than the caller
   could suspend and be woken. *)
let spin =
  let attempt t { Permits.owner; _ } () =
    if try_lock_as t owner then Some () else None
  in
  Operation.Own
    { pace = Spin.mutex; prepare = Fun.id; attempt; in_choice = false }

(* When a waiter withdraws, no task has to be served, unlike in a semaphore. Each waiter asks
   for all permits, so this one has not kept others from permits that are free. *)
let locking =
  Permits.waiting word ~left:Step.finished
    {
      Operation.default with
      name = "Mutex.lock";
      spin = In_its_own_way spin;
      holders = owners;
    }

(* --- Unlocking ------------------------------------------------------------ *)

(* If the state is the constant [locked], no task waits and the owner is not known. Then a
   single compare-and-set unlocks. *)
let[@inline] try_release t = Atomic.compare_and_set t locked unlocked
let[@inline] released t () = try_release t

(* Unbroken, because the observer doesn't raise. *)
let give_back t =
  Holders.gives_back ~kind t (owner_of t);
  Step.surely t unlock_step ();
  ()

let[@inline never] unlock_by_step t =
  Holders.before_unlock t ~owner:(owner_of t);
  give_back t

(* Usually only the first waiter leaves. This doesn't begin with a poll, as in [Step.surely]. *)
let[@inline never] unlock_slowly t =
  let before = Atomic.get t in
  match Permits.passed anybody before with
  | after
    when after != before
         && Atomic.compare_and_set t before after
         && Waiter.resume (Waiters.head (Permits.first_of before)) (Ok ()) ->
      ()
  | _ ->
      unlock_by_step t;
      ()
  | exception e ->
      Sys.opaque_identity (Step.surely_then_raise t unlock_step () e)

let[@inline] unlock t = if not (try_release t) then unlock_slowly t

(* --- Locking -------------------------------------------------------------- *)

let try_lock t = try_lock_as t (Holders.caller ())

(* Unbroken after the wait. Otherwise no task would unlock what this one was given. *)
let[@inline never] lock_slowly t owner =
  if not (try_slowly t owner) then begin
    if owner != Holders.unknown then begin
      Holders.before_lock owner t ~owner:owner_of;
      Holders.waits owner
    end;
    Nudge.wait locking t (request owner);
    Holders.taken owner
  end

let[@inline] lock_as owner t =
  if not (lock_now t owner) then lock_slowly t owner

let[@inline never] lock_known t = lock_as (Holders.taker ()) t

let[@inline] lock t =
  if Observer.looks_at_takers () then lock_known t
  else if not (Atomic.compare_and_set t unlocked locked) then
    lock_slowly t Holders.unknown

let lock_as_evt owner t =
  let taken () = Holders.taken owner in
  Event.make_by (Finish taken) locking.operation t (request owner)

let lock_evt t = Holding.event lock_as_evt t

let[@inline] protect_as owner t f =
  lock_as owner t;
  Step.within ~fast:released t unlock_step () f

let[@inline never] protect_known t f =
  let protect owner f = protect_as owner t f in
  Holding.within ~kind ~holder:owner_of t protect f

let protect t f =
  if Observer.looks_at_takers () then protect_known t f
  else protect_as Holders.unknown t f

(* --- Inspecting the mutex ------------------------------------------------- *)

let is_locked t = Permits.free_of (Atomic.get t) = 0
let waiters = Permits.waiters
