(* A lock for many readers or one writer. It is a {!Permits} with [Permits.all] permits, of
   which a writer takes all and a reader takes one. [Permits] has the table of states, and
   decides the order in which tasks are served. If the lock prefers writers, readers stand
   aside.

   The state names its holders in [rare.known]. That list is empty unless waits are kept for
   reports. *)
type t = {
  state : Permits.t;
  reading : Permits.request;
  writing : Permits.request;
}

type mode = Read | Write

let[@inline] mode (request : Permits.request) =
  if request.amount = Permits.all then Write else Read

let writers = Permits.request Permits.all
let fair_readers = Permits.request 1
let readers = { fair_readers with aside = true }
let free = Permits.few_taken 0
let written = Permits.few_free 0
let word t = t.state
let kind = "rwlock"

let made ?name ~in_order prefer =
  let state = Permits.make ~in_order Permits.all in
  let reading =
    match prefer with
    | None | Some `Nobody -> fair_readers
    | Some `Writers -> readers
  in
  Observer.made ~kind ?name { state; reading; writing = writers }

let create ?name ?prefer () = made ?name ~in_order:false prefer
let create_in_order ?name ?prefer () = made ?name ~in_order:true prefer

(* --- Steps ---------------------------------------------------------------- *)

let is_held s = function
  | Read -> Permits.free_of s > 0 && Permits.free_of s < Permits.all
  | Write -> Permits.free_of s = 0

let not_permitted = function
  | Read -> Sys_error "Rwlock.read_unlock: no task holds the lock to read"
  | Write -> Sys_error "Rwlock.write_unlock: no task holds the lock to write"

let unlock_step request s : _ Step.t =
  let mode = mode request in
  if is_held s mode then Permits.give request s else Raise (not_permitted mode)

(* The end of a bracket. A function of [write] may have downgraded the lock. *)
let end_step request s =
  match mode request with
  | Write when is_held s Read ->
      Permits.give { fair_readers with owner = request.owner } s
  | Read | Write -> unlock_step request s

let cannot_downgrade =
  Sys_error "Rwlock.downgrade: no task holds the lock to write"

let downgrade_step () s : _ Step.t =
  if is_held s Write then Permits.give_part (Permits.all - 1) s
  else Raise cannot_downgrade

(* --- The waiters and the holders ------------------------------------------ *)

(* The number of tasks that hold the lock. A writer has all permits, but is one task. *)
let count s =
  let free = Permits.free_of s in
  if free = 0 then 1 else Permits.all - free

let holders t =
  let s = Atomic.get t.state in
  Holders.all ~count:(count s) (Permits.rare_of s).known

let locking name =
  Permits.waiting word { Operation.default with name; spin = Before; holders }

let reading = locking "Rwlock.read_lock"
let writing = locking "Rwlock.write_lock"
let waiting = function Read -> reading | Write -> writing

(* --- Unlocking ------------------------------------------------------------ *)

(* The fast paths of this file replace one constant of {!Permits} by another. A state that
   is physically equal to such a constant has no waiters and no known holders, so nothing
   else has to be done. *)
let[@inline] read_unlocked state _ =
  let s = Atomic.get state in
  let n = Permits.all - Permits.free_of s in
  n > 0 && n <= Permits.few
  && s == Permits.few_taken n
  && Atomic.compare_and_set state s (Permits.few_taken (n - 1))

let[@inline] write_unlocked state _ = Atomic.compare_and_set state written free

let[@inline] ended state request =
  match mode request with
  | Read -> read_unlocked state request
  | Write -> write_unlocked state request || read_unlocked state request

let[@inline] by owner (request : Permits.request) =
  if owner == Holders.unknown then request else { request with owner }

let known_as caller t =
  Holders.own caller (Permits.rare_of (Atomic.get t.state)).known

let[@inline never] unlock_slowly t request =
  let caller = Holders.caller () in
  Holders.gives_back ~kind t (known_as caller t);
  Step.surely t.state unlock_step (by caller request)

let read_unlock t =
  if not (read_unlocked t.state ()) then unlock_slowly t t.reading

let write_unlock t =
  if not (write_unlocked t.state ()) then unlock_slowly t t.writing

let end_write t =
  if not (ended t.state t.writing) then
    Step.surely t.state end_step (by (Holders.caller ()) t.writing)

let downgrade t =
  if not (Atomic.compare_and_set t.state written (Permits.few_taken 1)) then
    (* There are waiters or known holders, or no task holds the lock to write. *)
    Step.surely t.state downgrade_step ()

(* --- Locking -------------------------------------------------------------- *)

let[@inline] read_locked state =
  let s = Atomic.get state in
  let n = Permits.all - Permits.free_of s in
  n < Permits.few
  && s == Permits.few_taken n
  && Atomic.compare_and_set state s (Permits.few_taken (n + 1))

let[@inline] write_locked state = Atomic.compare_and_set state free written

let[@inline] locked state (request : Permits.request) =
  request.owner == Holders.unknown
  &&
  match mode request with
  | Read -> read_locked state
  | Write -> write_locked state

let[@inline never] try_lock_slowly t request =
  Option.is_some (Step.attempt t.state Permits.take request)

let[@inline never] lock_slowly t (request : Permits.request) =
  if not (try_lock_slowly t request) then begin
    Holders.waits request.owner;
    Nudge.wait (waiting (mode request)) t request;
    Holders.taken request.owner
  end

let[@inline] lock t request =
  let request = by (Holders.taker ()) request in
  if not (locked t.state request) then lock_slowly t request

let read_lock t = lock t t.reading
let write_lock t = lock t t.writing

let[@inline] try_lock t request =
  let request = by (Holders.caller ()) request in
  locked t.state request || try_lock_slowly t request

let try_read_lock t = try_lock t t.reading
let try_write_lock t = try_lock t t.writing

let lock_evt t request =
  let event holder t =
    let taken () = Holders.taken holder in
    let operation = (waiting (mode request)).operation in
    Event.make_by (Finish taken) operation t (by holder request)
  in
  Holding.event event t

let read_lock_evt t = lock_evt t t.reading
let write_lock_evt t = lock_evt t t.writing

let[@inline] within_as t request f =
  if not (locked t.state request) then lock_slowly t request;
  Step.within ~fast:ended t.state end_step request f

let[@inline never] within_known t request f =
  Holding.within ~kind t (fun by_task f -> within_as t (by by_task request) f) f

let[@inline] within t request f =
  if Observer.looks_at_takers () then within_known t request f
  else within_as t request f

let read t f = within t t.reading f
let write t f = within t t.writing f

(* --- Inspecting the lock -------------------------------------------------- *)

let waiters t = Permits.waiters t.state
