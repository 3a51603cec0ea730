include Rwlock_state

(* [noted]: of a lock that is made while waits are kept, those of its holders who have said
   so. A holder is noted after it has the lock, and struck out before it leaves it: so who
   is noted has it, and [holders] may be more. *)
type t = {
  fair : bool;
  state : state Atomic.t;
  noted : Waits.holder list Atomic.t option;
}

let holders t () =
  match t.noted with
  | None -> []
  | Some noted ->
      let noted = Atomic.get noted and n = abs (Atomic.get t.state).holders in
      let others = Int.max 0 (n - List.length noted) in
      noted @ List.init others (fun _ -> Labels.given)

let make ?name fair noted =
  let t = { fair; state = Atomic.make free; noted } in
  Labels.made ~kind:"rwlock" ?name ~holders:(holders t) t

let create ?name ?(prefer = `Nobody) () =
  let fair = match prefer with `Nobody -> true | `Writers -> false in
  make ?name fair (if Waits.are_kept () then Some (Atomic.make []) else None)

(* --- Locking -------------------------------------------------------------- *)

let may_enter t s mode =
  admits s mode && Waiters.is_empty s.first
  && (Waiters.is_empty s.second || not t.fair)

let rec try_lock_again t mode pauses =
  let s = Atomic.get t.state in
  may_enter t s mode
  && (Atomic.compare_and_set t.state s (with_one_more s mode)
     ||
     (* any other transition *)
     try_lock_again t mode (Backoff.wait pauses))

let try_lock t mode = try_lock_again t mode Backoff.first

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

let count_first s = { s with first = Waiters.count_gone s.first }
let count_second s = { s with second = Waiters.count_gone s.second }

let withdraw t w =
  let is_first = t.fair || w.Waiter.arg = Write in
  match
    if not (Waiter.has_left w) then
      Operation.leave t.state w (if is_first then count_first else count_second)
  with
  | () -> (
      try settle t.state
      with e ->
        settle t.state;
        raise e)
  | exception e ->
      if Waiter.has_left w then settle t.state;
      raise e

let locking =
  {
    Operation.name = "Rwlock.lock";
    spin = Before;
    observe = Waits.unobserved;
    how =
      By_hand
        {
          attempt = (fun t mode -> if try_lock t mode then Some () else None);
          enlist;
          withdraw;
        };
  }

(* --- Unlocking ------------------------------------------------------------ *)

let has_waiters s = not (Waiters.is_empty s.first && Waiters.is_empty s.second)

(* If no task waited when the holder released the lock, there is none to serve. *)
let[@inline] leave t s again pauses =
  if Atomic.compare_and_set t.state s (with_one_less s) then
    begin if has_waiters s then settle t.state
    end
  else (* any other transition *) again t (Backoff.wait pauses)

let rec leave_read_again t pauses =
  let s = Atomic.get t.state in
  if s.holders <= 0 then
    raise (Sys_error "Rwlock.read_unlock: Operation not permitted");
  leave t s leave_read_again pauses

let leave_read t = leave_read_again t Backoff.first

let rec leave_write_again t pauses =
  let s = Atomic.get t.state in
  if s.holders <> writer then
    raise (Sys_error "Rwlock.write_unlock: Operation not permitted");
  leave t s leave_write_again pauses

let leave_write t = leave_write_again t Backoff.first
let leave_as t = function Read -> leave_read t | Write -> leave_write t

(* The newest that [is_it], if there is one. *)
let rec strike_out is_it = function
  | [] -> None
  | first :: rest when is_it first -> Some rest
  | first :: rest -> Option.map (List.cons first) (strike_out is_it rest)

let forgotten (holder : Waits.holder) =
  {
    holder with
    by = Who.unknown holder.by.host;
    held_at = Printexc.get_callstack 0;
  }

(* A task may end what another one began: then it is not known any more who holds the
   lock, unless one task holds all that is left. *)
let strike_out_for by noted =
  let is_callers (holder : Waits.holder) =
    Who.same holder.by by || not (Who.is_known holder.by || Who.is_known by)
  in
  match (strike_out is_callers noted, noted) with
  | Some others, _ -> others
  | None, [] -> []
  | None, first :: others ->
      let is_like (other : Waits.holder) = Who.same other.by first.Waits.by in
      if List.for_all is_like others then others else List.map forgotten others

let[@inline never] strike_out_caller noted by =
  Atomically.update noted (strike_out_for by)

let[@inline never] leave_noted t noted mode who =
  Misuse.told_before
    (fun () -> strike_out_caller noted (who ()))
    (fun () -> leave_as t mode)

let read_unlock t =
  match t.noted with
  | None -> leave_read t
  | Some noted -> leave_noted t noted Read Extent.task

let write_unlock t =
  match t.noted with
  | None -> leave_write t
  | Some noted -> leave_noted t noted Write Extent.task

(* --- The holders ---------------------------------------------------------- *)

(* If a signal handler raises in here, the caller does not hold the lock. *)
let note t noted mode who =
  match
    let holder = Waits.held (who ()) in
    Atomically.update noted (List.cons holder)
  with
  | () -> ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      leave_as t mode;
      Printexc.raise_with_backtrace e backtrace

let[@inline] after_lock t mode =
  match t.noted with None -> () | Some noted -> note t noted mode Extent.task

let lock t mode =
  if not (try_lock t mode) then Operation.wait locking t mode;
  after_lock t mode

let try_lock_noted t mode =
  try_lock t mode
  && begin
    after_lock t mode;
    true
  end

let read_lock t = lock t Read
let write_lock t = lock t Write
let try_read_lock t = try_lock_noted t Read
let try_write_lock t = try_lock_noted t Write

let lock_evt t mode =
  match t.noted with
  | None -> Event.make locking t mode
  | Some noted ->
      let finish () = note t noted mode Extent.task in
      Event.make_with ~finish locking t mode

let read_lock_evt t = lock_evt t Read
let write_lock_evt t = lock_evt t Write

let[@inline] unlock_after unlock t f =
  match f () with
  | v ->
      unlock t;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      unlock t;
      Printexc.raise_with_backtrace e backtrace

(* Nothing is allocated between the lock and [f] but in [note]: there a signal handler may
   raise. *)
let[@inline never] within_noted t noted mode f =
  Extent.within @@ fun by ->
  let who () = by in
  let unlock t = leave_noted t noted mode who in
  if not (try_lock t mode) then Operation.wait locking t mode;
  note t noted mode who;
  unlock_after unlock t f

let read t f =
  match t.noted with
  | None ->
      read_lock t;
      unlock_after leave_read t f
  | Some noted -> within_noted t noted Read f

let write t f =
  match t.noted with
  | None ->
      write_lock t;
      unlock_after leave_write t f
  | Some noted -> within_noted t noted Write f

(* --- Looking -------------------------------------------------------------- *)

let waiters t =
  let s = Atomic.get t.state in
  Waiters.length s.first + Waiters.length s.second
