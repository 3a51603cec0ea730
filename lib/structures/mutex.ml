include Mutex_state

(* --- Unlocking ------------------------------------------------------------ *)

let hand_over_or_refuse t =
  if not (hand_over resume t) then
    raise (Sys_error "Mutex.unlock: Operation not permitted")

let release t =
  if not (Atomic.compare_and_set t Locked Unlocked) then hand_over_or_refuse t

let try_release t = Atomic.compare_and_set t Locked Unlocked

let release_owed debt t =
  Atomic.compare_and_set t Locked Unlocked
  || hand_over (fun w -> Sys.opaque_identity (Debt.resume debt w (Ok ()))) t

let name t = Misuse.called "a mutex" t

(* A thread may be the loop in which the owner runs, or that in which the caller does. *)
let is_other (by : Who.t) (owner : Who.t) =
  Who.is_known by && Who.is_known owner
  && (not (Who.same by owner))
  && (by.host <> "" || owner.host = "")
  && not (by.host <> "" && Who.same owner (Who.of_thread ()))

let tell_of_other t (owner : Waits.holder) =
  let by = Extent.task () in
  if is_other by owner.by then
    Misuse.report
      (Printf.sprintf
         "Mutex.unlock: %s unlocks %s, which another task has locked: %s, \
          here:%s\n\
          It is unlocked all the same"
         (Who.to_string by) (name t) (Who.to_string owner.by)
         (Misuse.place owner.held_at))

let[@inline never] unlock_kept t =
  Misuse.told_before
    (fun () -> List.iter (tell_of_other t) (owners t ()))
    (fun () -> hand_over_or_refuse t)

let[@inline never] unlock_slowly t =
  if Waits.are_kept () then unlock_kept t else hand_over_or_refuse t

let unlock t =
  if not (Atomic.compare_and_set t Locked Unlocked) then unlock_slowly t

(* --- Locking -------------------------------------------------------------- *)

let rec lock_if_free t owner =
  match Atomic.get t with
  | Watched { owner = None; waiters } as before ->
      Atomic.compare_and_set t before (Watched { owner; waiters })
      ||
      (* any other transition *)
      lock_if_free t owner
  | Watched _ | Unlocked | Locked | Queue _ -> false

let held by = Some (Waits.held by)

let try_lock_watched t =
  match Atomic.get t with
  | Watched { owner = None; _ } -> lock_if_free t (held (Extent.task ()))
  | Watched _ | Unlocked | Locked | Queue _ -> false

let try_lock t =
  Atomic.compare_and_set t Unlocked Locked
  || (Waits.are_kept () && try_lock_watched t)

(* [attempt] may run outside of the task, and performs no effect. *)
let locking =
  {
    Operation.attempt =
      (fun t () ->
        if
          Atomic.compare_and_set t Unlocked Locked
          || (Waits.are_kept () && lock_if_free t given)
        then Some ()
        else None);
    enlist;
    withdraw;
  }

(* By the task that was given it. *)
let note t by =
  let owner = held by in
  Atomically.update t @@ function
  | Watched { owner = before; waiters } when before == given ->
      Watched { owner; waiters }
  | (Watched _ | Unlocked | Locked | Queue _) as state -> state

(* A signal handler may raise in here: then the caller does not have the mutex. *)
let note_or_release t who =
  match note t (who ()) with
  | () -> ()
  | exception e ->
      let backtrace = Backtrace.get () in
      release t;
      Printexc.raise_with_backtrace e backtrace

(* Nothing is allocated after the wait: a signal handler may raise there, and nobody would
   have what was given. *)
let lock_watched t by =
  if not (lock_if_free t (held by)) then begin
    let who () = by in
    List.iter
      (fun (owner : Waits.holder) ->
        if Who.same owner.by by && Extent.is_certain by then
          Misuse.locked_twice (name t) owner;
        if Who.is_gone owner.by then
          Misuse.tell_of_ended ("Mutex.lock: " ^ name t) owner)
      (owners t ());
    Operation.wait locking t ();
    note_or_release t who
  end

let is_watched t =
  Waits.are_kept ()
  &&
  match Atomic.get t with
  | Watched _ -> true
  | Unlocked | Locked | Queue _ -> false

(* An owner on another domain may unlock sooner than the caller could suspend and be woken:
   so look, while nobody has queued. An owner of the same domain cannot. *)
type patience = { times : int; pauses : int  (** In between. *) }

(* Keep off the word, so that the owner may lock and unlock several times in its own
   cache. *)
let keeping_off = { times = 2; pauses = Backoff.first }

(* The owner has just signalled, and unlocks at once. *)
let staying_close = { times = 32; pauses = 1 }
let spins = Domain.DLS.new_key Spin.create_at_once

let rec look t pauses times =
  match Atomic.get t with
  | Unlocked ->
      Atomic.compare_and_set t Unlocked Locked || look_again t pauses times
  | Locked -> look_again t pauses times
  | Queue _ | Watched _ -> false

and look_again t pauses times =
  times > 0
  && begin
    ignore (Backoff.wait pauses : int);
    look t pauses (times - 1)
  end

(* No handler runs after the mutex was locked. *)
let lock_soon t { times; pauses } =
  let spin = Domain.DLS.get spins in
  Spin.begin_turns spin > 0
  &&
  match look t pauses times with
  | gained ->
      Spin.end_turns spin ~gained;
      gained
  | exception e ->
      let backtrace = Backtrace.get () in
      Spin.leave_turns spin;
      Printexc.raise_with_backtrace e backtrace

let try_lock_signalled t =
  try_lock t || ((not (is_watched t)) && lock_soon t staying_close)

let[@inline never] lock_slowly t =
  if is_watched t then lock_watched t (Extent.task ())
  else if not (lock_soon t keeping_off) then Operation.wait locking t ()

let lock t =
  if not (Atomic.compare_and_set t Unlocked Locked) then lock_slowly t

(* After this the caller has the mutex, whatever it raises: a signal handler's exception.
   [try_lock] raises before it has locked, never after. *)
let rec lock_again t =
  match try_lock t with
  | true -> ()
  | false ->
      Suspend.protect (fun () ->
          if not (try_lock t) then begin
            Operation.wait locking t ();
            if is_watched t then note t (Extent.task ())
          end)
  | exception e ->
      let backtrace = Backtrace.get () in
      lock_again t;
      Printexc.raise_with_backtrace e backtrace

let lock_evt t =
  if Waits.are_kept () then
    let finish () = note_or_release t Extent.task in
    Event.make_with ~finish locking t ()
  else Event.make locking t ()

let[@inline] unlock_after t f =
  match f () with
  | v ->
      unlock t;
      v
  | exception e ->
      let backtrace = Backtrace.get () in
      unlock t;
      Printexc.raise_with_backtrace e backtrace

let[@inline never] protect_slowly t f =
  if is_watched t then (
    Extent.within @@ fun by ->
    lock_watched t by;
    unlock_after t f)
  else begin
    if not (lock_soon t keeping_off) then Operation.wait locking t ();
    unlock_after t f
  end

let protect t f =
  if Atomic.compare_and_set t Unlocked Locked then unlock_after t f
  else protect_slowly t f

(* --- Looking -------------------------------------------------------------- *)

let is_locked t =
  match Atomic.get t with
  | Unlocked | Watched { owner = None; _ } -> false
  | Locked | Queue _ | Watched _ -> true

let waiters t =
  match Atomic.get t with
  | Unlocked | Locked -> 0
  | Queue waiters | Watched { waiters; _ } -> Waiters.length waiters

let is_empty t = waiters t = 0
