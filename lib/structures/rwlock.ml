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
   withdrawal, if the waiters behind it can share the lock with its holders. *)
type mode = Read | Write

type state = {
  holders : int;
  first : (mode, unit) Waiters.t;
  second : (mode, unit) Waiters.t;
}

type t = { fair : bool; state : state Atomic.t }

let writer = -1
let free = { holders = 0; first = Waiters.empty; second = Waiters.empty }

let create ?(prefer = `Nobody) () =
  let fair = match prefer with `Nobody -> true | `Writers -> false in
  { fair; state = Atomic.make free }

(* --- Serving those who wait ----------------------------------------------- *)

let admits s = function Read -> s.holders >= 0 | Write -> s.holders = 0

let with_one_more s = function
  | Read -> { s with holders = s.holders + 1 }
  | Write -> { s with holders = writer }

let with_one_less s =
  { s with holders = (if s.holders = writer then 0 else s.holders - 1) }

let rec settle t =
  let s = Atomic.get t.state in
  let from_first = not (Waiters.is_empty s.first) in
  let queue = if from_first then s.first else s.second in
  if not (Waiters.is_empty queue) then
    let w = Waiters.head queue in
    let rest = Waiters.tail queue in
    let s' =
      if from_first then { s with first = rest } else { s with second = rest }
    in
    if not (Waiter.is_live w) then begin
      ignore (Atomic.compare_and_set t.state s s' : bool);
      settle t
    end
    else if admits s w.arg then begin
      if
        Atomic.compare_and_set t.state s (with_one_more s' w.arg)
        && not (Waiter.resume w (Ok ()))
      then Atomically.update t.state with_one_less;
      (* the next one, or again after any other transition *)
      settle t
    end

(* --- Locking -------------------------------------------------------------- *)

let may_enter t s mode =
  admits s mode && Waiters.is_empty s.first
  && (Waiters.is_empty s.second || not t.fair)

let rec try_lock t mode =
  let s = Atomic.get t.state in
  may_enter t s mode
  && (Atomic.compare_and_set t.state s (with_one_more s mode)
     ||
     (* any other transition *)
     try_lock t mode)

let rec enlist t w =
  let s = Atomic.get t.state in
  (not (may_enter t s w.Waiter.arg))
  &&
  let s' =
    if t.fair || w.arg = Write then { s with first = Waiters.push s.first w }
    else { s with second = Waiters.push s.second w }
  in
  Atomic.compare_and_set t.state s s'
  ||
  (* any other transition *)
  enlist t w

let withdraw t w =
  let leave s =
    if t.fair || w.Waiter.arg = Write then
      { s with first = Waiters.count_gone s.first }
    else { s with second = Waiters.count_gone s.second }
  in
  Atomically.update t.state leave;
  settle t

let locking =
  {
    Operation.attempt =
      (fun t mode -> if try_lock t mode then Some () else None);
    enlist;
    withdraw;
  }

let lock t mode = if not (try_lock t mode) then Operation.wait locking t mode
let read_lock t = lock t Read
let write_lock t = lock t Write
let try_read_lock t = try_lock t Read
let try_write_lock t = try_lock t Write
let read_lock_evt t = Event.make locking t Read
let write_lock_evt t = Event.make locking t Write

(* --- Unlocking ------------------------------------------------------------ *)

let has_waiters s = not (Waiters.is_empty s.first && Waiters.is_empty s.second)

(* If no task waited when the holder released the lock, there is none to serve. *)
let[@inline] leave t s again =
  if Atomic.compare_and_set t.state s (with_one_less s) then
    begin if has_waiters s then settle t
    end
  else (* any other transition *) again t

let rec read_unlock t =
  let s = Atomic.get t.state in
  if s.holders <= 0 then
    raise (Sys_error "Rwlock.read_unlock: Operation not permitted");
  leave t s read_unlock

let rec write_unlock t =
  let s = Atomic.get t.state in
  if s.holders <> writer then
    raise (Sys_error "Rwlock.write_unlock: Operation not permitted");
  leave t s write_unlock

let within lock unlock t f =
  lock t;
  match f () with
  | v ->
      unlock t;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      unlock t;
      Printexc.raise_with_backtrace e backtrace

let read t f = within read_lock read_unlock t f
let write t f = within write_lock write_unlock t f

(* --- Looking -------------------------------------------------------------- *)

let waiters t =
  let s = Atomic.get t.state in
  Waiters.length s.first + Waiters.length s.second
