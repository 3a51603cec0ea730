(* [state], the only Atomic here. [holders]: how many tasks hold the lock to read, or [writer]
   if one holds it to write.

   Left by           To                                  By whom
   lock            * one more holder, or [writer]        any task that none precedes
   unlock          * one holder less                     a holder; then it serves
   serve           * the first waiter out of its queue, and one more holder, or
                     [writer]                            anyone; it calls the waiter
   refused waiter    one holder less                     the task that called it; serves on
   withdrawn waiter  out of its queue                    the task that enlisted it;
                                                         then it serves

   and waiters come to their queue.

   * linearises the operation of the task that does it, and [serve] that of the waiter, if
   the resumer answers [true].

   The waiters in [first] precede those in [second], and newcomers of their kind. All wait in
   [first] if the lock is fair. Otherwise only writers do. A task that changes the state so
   that the first waiter could be served serves until no waiter can be: after a release, or
   after a withdrawal, because the waiters behind it may share the lock with its holders.

   [known] are the holders that are known: none unless reports were asked for. *)
type mode = Read | Write

(* What a task asks for. Without reports there are four, which are constants. *)
type request = { mode : mode; fair : bool; by : Holders.t }

type state = {
  holders : int;
  known : Holders.t list;
  first : (request, unit) Waiters.t;
  second : (request, unit) Waiters.t;
}

type t = { state : state Atomic.t; reading : request; writing : request }

let writer = -1
let has_waiters s = not (Waiters.is_empty s.first && Waiters.is_empty s.second)

(* Where nobody waits, and no holder is known, a state is its number of holders. Those with few
   readers are constants: they need not be allocated, nor fetched from the core that has
   allocated them. *)
let few = 64

let read_by =
  Array.init (few + 1) (fun holders ->
      { holders; known = []; first = Waiters.empty; second = Waiters.empty })

let free = read_by.(0)
let written = { free with holders = writer }

let state holders known first second =
  if
    Waiters.is_empty first && Waiters.is_empty second && List.is_empty known
    && holders <= few
  then if holders = writer then written else Array.unsafe_get read_by holders
  else { holders; known; first; second }

let and_known known by = if by == Holders.unknown then known else by :: known

(* The state with one more holder, and these waiters. *)
let entered s { mode; by; _ } first second =
  let holders = match mode with Read -> s.holders + 1 | Write -> writer in
  state holders (and_known s.known by) first second

let left s by =
  let known =
    if List.is_empty s.known then s.known else Holders.without by s.known
  in
  let holders = if s.holders = writer then 0 else s.holders - 1 in
  state holders known s.first s.second

(* --- Steps ------------------------------------------------------------------ *)

(* Those who wait aside. *)
let admits s = function Read -> s.holders >= 0 | Write -> s.holders = 0

let may_enter s { mode; fair; _ } =
  admits s mode && Waiters.is_empty s.first
  && (Waiters.is_empty s.second || not fair)

let lock_step request s : _ Step.t =
  if may_enter s request then Return (entered s request s.first s.second, ())
  else Wait

(* Lets in who can. *)
let rec serve s : _ Step.t =
  if not (Waiters.is_empty s.first) then serve_first s
  else if not (Waiters.is_empty s.second) then serve_second s
  else Return (s, ())

and serve_first s =
  let w = Waiters.head s.first and first = Waiters.tail s.first in
  if not (Waiter.is_live w) then Become ({ s with first }, Again)
  else if not (admits s w.arg.mode) then Return (s, ())
  else let_in w (entered s w.arg first s.second)

and serve_second s =
  let w = Waiters.head s.second and second = Waiters.tail s.second in
  if not (Waiter.is_live w) then Become ({ s with second }, Again)
  else if not (admits s w.arg.mode) then Return (s, ())
  else let_in w (entered s w.arg s.first second)

and let_in w state =
  let refused =
    if w.arg.by == Holders.unknown then then_take_back
    else Step.Then (take_back w.arg.by)
  in
  Hand_over { state; waiter = w; outcome = Ok (); accepted = Again; refused }

(* From a waiter that has refused. *)
and take_back by s = Become (left s by, then_serve)
and then_take_back = Step.Then (fun s -> take_back Holders.unknown s)
and then_serve = Step.Then serve

let is_held s = function Read -> s.holders > 0 | Write -> s.holders = writer

let not_permitted = function
  | Read -> Sys_error "Rwlock.read_unlock: Operation not permitted"
  | Write -> Sys_error "Rwlock.write_unlock: Operation not permitted"

let unlock_step request s : _ Step.t =
  if not (is_held s request.mode) then Raise (not_permitted request.mode)
  else if has_waiters s then Become (left s request.by, then_serve)
  else Return (left s request.by, ())

(* --- Who waits, who holds it -------------------------------------------------- *)

let queue change (w : (request, unit) Waiter.t) s =
  if w.arg.fair || w.arg.mode = Write then { s with first = change s.first w }
  else { s with second = change s.second w }

let holders t =
  let s = Atomic.get t.state in
  Holders.all ~count:(abs s.holders) s.known

let locking =
  Operation.By_steps
    { word = (fun t -> t.state); step = lock_step; queue; left = then_serve }

let reading =
  {
    Operation.default with
    name = "Rwlock.read_lock";
    spin = Before;
    holders;
    how = locking;
  }

let writing = { reading with name = "Rwlock.write_lock" }
let operation = function Read -> reading | Write -> writing
let readers = { mode = Read; fair = false; by = Holders.unknown }
let writers = { readers with mode = Write }
let fair_readers = { readers with fair = true }
let fair_writers = { writers with fair = true }

let create ?name ?(prefer = `Nobody) () =
  let state = Atomic.make free in
  Labels.made ~kind:"rwlock" ?name
    (match prefer with
    | `Nobody -> { state; reading = fair_readers; writing = fair_writers }
    | `Writers -> { state; reading = readers; writing = writers })

(* --- Unlocking ------------------------------------------------------------ *)

let[@inline] read_unlocked state _ =
  let s = Atomic.get state in
  let n = s.holders in
  n > 0 && n <= few
  && s == Array.unsafe_get read_by n
  && Atomic.compare_and_set state s (Array.unsafe_get read_by (n - 1))

let[@inline] write_unlocked state _ = Atomic.compare_and_set state written free

let[@inline] unlocked state request =
  match request.mode with
  | Read -> read_unlocked state request
  | Write -> write_unlocked state request

let[@inline] by holder request =
  if holder == Holders.unknown then request else { request with by = holder }

let[@inline never] unlock_slowly t request =
  Step.surely t.state unlock_step (by (Holders.caller ()) request)

let read_unlock t =
  if not (read_unlocked t.state ()) then unlock_slowly t t.reading

let write_unlock t =
  if not (write_unlocked t.state ()) then unlock_slowly t t.writing

(* --- Locking -------------------------------------------------------------- *)

let[@inline] read_locked state =
  let s = Atomic.get state in
  let n = s.holders in
  n >= 0 && n < few
  && s == Array.unsafe_get read_by n
  && Atomic.compare_and_set state s (Array.unsafe_get read_by (n + 1))

let[@inline] write_locked state = Atomic.compare_and_set state free written

let[@inline] locked state request =
  request.by == Holders.unknown
  &&
  match request.mode with
  | Read -> read_locked state
  | Write -> write_locked state

let[@inline never] lock_slowly t request =
  match Step.attempt t.state lock_step request with
  | Some () -> ()
  | None ->
      Holders.waits request.by;
      Operation.wait (operation request.mode) t request;
      Holders.taken request.by

let[@inline] lock t request =
  let request = by (Holders.taker ()) request in
  if not (locked t.state request) then lock_slowly t request

let read_lock t = lock t t.reading
let write_lock t = lock t t.writing

let[@inline never] try_lock_slowly t request =
  Option.is_some (Step.attempt t.state lock_step request)

let[@inline] try_lock t request =
  let request = by (Holders.caller ()) request in
  locked t.state request || try_lock_slowly t request

let try_read_lock t = try_lock t t.reading
let try_write_lock t = try_lock t t.writing

let lock_evt t request =
  let event holder t =
    let taken () = Holders.taken holder in
    let operation = operation request.mode in
    Event.make_by (Finish taken) operation t (by holder request)
  in
  Holding.event event t

let read_lock_evt t = lock_evt t t.reading
let write_lock_evt t = lock_evt t t.writing

let[@inline] within_as t request f =
  if not (locked t.state request) then lock_slowly t request;
  Step.within ~fast:unlocked t.state unlock_step request f

let[@inline never] within_known t request f =
  Holders.within (fun holder -> within_as t (by holder request) f)

let[@inline] within t request f =
  if Holders.are_known () then within_known t request f
  else within_as t request f

let read t f = within t t.reading f
let write t f = within t t.writing f

(* --- Looking at it -------------------------------------------------------------- *)

let waiters t =
  let s = Atomic.get t.state in
  Waiters.length s.first + Waiters.length s.second
