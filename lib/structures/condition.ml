include Wakes

(* Reports name the condition, not what is made for one wait. *)
let part_of condition part = Labels.waited_in ~from:condition part

(* --- Waiting -------------------------------------------------------------- *)

(* One call of [wait]. Only the task that waits touches the fields. *)
type wait = {
  condition : t;
  mutex : Mutex.t;
  mutable unlocked : bool;
  mutable slot : Slot.t;  (** In which it spins, or [nowhere]. *)
}

let not_locked () = raise (Sys_error "Condition.wait: the mutex is not locked")

let unlock_once wait =
  if not wait.unlocked then
    match Step.surely (Mutex.word wait.mutex) Mutex.unlock_step () with
    | () -> wait.unlocked <- true
    | exception e when e == Mutex.not_permitted ->
        (* another task has unlocked it *) not_locked ()
    | exception e ->
        wait.unlocked <- true;
        raise e

(* A signal that comes after the mutex is unlocked finds the waiter. Whatever is raised
   meanwhile, it is known whether the mutex is.

   Misuse shows here only, as [attempt] has seen the mutex locked: so this [enlist] may
   raise, which others must not do. The waiter is marked as withdrawn then, and not withdrawn once more. *)
let enlist wait w =
  if not (wait.unlocked || Mutex.is_locked wait.mutex) then begin
    Waiter.mark_withdrawn w;
    invalid_arg "Condition.wait_evt: twice in one choice with one mutex"
  end;
  push wait.condition w;
  unlock_once wait;
  true

let check wait = if not (Mutex.is_locked wait.mutex) then not_locked ()

(* A choice that begins again after it has unlocked the mutex did not wait for a moment.
   A signal that came in that moment must not be missed. *)
let attempt wait () =
  if wait.unlocked then Some Signal
  else begin
    check wait;
    None
  end

let waiting =
  {
    Operation.default with
    name = "Condition.wait";
    how =
      By_hand
        {
          attempt;
          enlist;
          withdraw =
            (fun wait w ->
              Step.withdraw wait.condition Bvar.queue Step.finished w);
        };
  }

(* No signal handler runs between locking and writing that down. *)
let lock_now wait =
  if Mutex.try_lock_soon wait.mutex then wait.unlocked <- false
  else
    Suspend.protect (fun () ->
        Mutex.lock wait.mutex;
        wait.unlocked <- false)

(* The task may have been cancelled, or a signal handler raise meanwhile, and it must have
   the mutex all the same. Tried once more only, as where the host protects nothing each
   wait of a cancelled task raises. *)
let lock_again wait =
  if wait.unlocked then (
    try lock_now wait
    with e ->
      let backtrace = Backtrace.get () in
      (try if wait.unlocked then lock_now wait with _ -> ());
      Printexc.raise_with_backtrace e backtrace)

let start condition mutex =
  part_of condition { condition; mutex; unlocked = false; slot = Slot.nowhere }

let rec leave_both first second =
  try
    Slot.leave first;
    Slot.leave second
  with e ->
    (* a signal handler's *)
    leave_both first second;
    raise e

(* --- Spinning first -------------------------------------------------------- *)

(* Not before others could have had the mutex, or who signals without it would keep them
   from it. *)
let attempt_in_slot wait () () =
  if wait.unlocked then Slot.check wait.slot else None

let waiting_in_slot =
  {
    Operation.default with
    name = "Condition.wait";
    how =
      By_hand
        {
          attempt = (fun wait () -> attempt_in_slot wait () ());
          enlist =
            (fun wait w ->
              unlock_once wait;
              Slot.wait wait.slot w);
          withdraw = (fun _ _ -> (* whoever waits leaves the slot *) ());
        };
  }

(* Nothing is raised between the release and the store. *)
let unlock_unless_queued wait =
  if Mutex.try_release wait.mutex then wait.unlocked <- true

(* In a program of several domains a signal may come sooner than the task could fall
   asleep. So it spins in its slot in the queue. Until it has suspended nobody
   says that it was cancelled before: so it unlocks only if no task waits for the mutex. *)
let[@inline never] spin_then_wait wait =
  wait.slot <- Slot.make_again wait.condition;
  Slot.enter wait.slot;
  try
    unlock_unless_queued wait;
    match
      if wait.unlocked then Operation.spin Spin.soon attempt_in_slot wait () ()
      else None
    with
    | Some Signal ->
        Slot.give_back wait.slot;
        Signal
    | Some Broadcast -> Broadcast
    | None -> Operation.wait waiting_in_slot wait ()
  with e ->
    let backtrace = Backtrace.get () in
    leave_both Slot.nowhere wait.slot;
    Printexc.raise_with_backtrace e backtrace

let wait_for_signal wait =
  if Operation.may_spin () then spin_then_wait wait
  else Operation.wait waiting wait ()

let wait condition mutex =
  let wait = start condition mutex in
  check wait;
  match wait_for_signal wait with
  | Signal | Broadcast -> lock_again wait
  | exception e ->
      let backtrace = Backtrace.get () in
      lock_again wait;
      Printexc.raise_with_backtrace e backtrace

(* Enlisted last: if another alternative could be found ready after the mutex was
   unlocked, and then be lost to another task, a signal in between would be missed. *)
let wait_evt condition mutex =
  Event.guard @@ fun () ->
  let wait = start condition mutex in
  let lock_again () = lock_again wait in
  Event.wrap_withdraw
    (Event.make_by (Last_and_finish (fun _ -> lock_again ())) waiting wait ())
    lock_again

(* --- Without a mutex ------------------------------------------------------- *)

let waiting_only = { Bvar.waiting with name = "Condition.wait_no_mutex" }
let wait_no_mutex t = ignore (Operation.wait waiting_only t () : wake)

let wait_no_mutex_evt t =
  Event.make_by (Last_and_finish ignore) waiting_only t ()

(* One call of [loop_no_mutex], or one synchronisation of its event. Only its task
   touches the fields. *)
type 'a visit = {
  condition : t;
  f : unit -> 'a option;
  mutable slot : Slot.t;
  mutable before : Slot.t;
      (** The slot whose wake-up made the task look. It is forgotten when the
          look was not in vain, or the task waits again. *)
  mutable got : unit -> 'a;  (** What the last look gives, or raises. *)
}

(* [got] is not called before [f] has ended the visit. *)
let visit condition f slot =
  let got () = assert false in
  part_of condition { condition; f; slot; before = Slot.nowhere; got }

(* Most often there is nothing to write. *)
let use visit =
  if visit.before != Slot.nowhere then visit.before <- Slot.nowhere

(* Nothing is allocated once the slot is in the queue: there a signal handler may
   raise. *)
let take_slot visit =
  let slot = Slot.make visit.condition in
  Slot.enter slot;
  if visit.slot != Slot.nowhere then visit.before <- visit.slot;
  visit.slot <- slot

let leave visit = leave_both visit.before visit.slot

(* Whoever waits leaves the slot if it raises. *)
let waiting_for_change =
  {
    Operation.default with
    name = "Condition.loop_no_mutex";
    how =
      By_hand
        {
          attempt = (fun visit () -> Slot.check visit.slot);
          enlist = (fun visit w -> Slot.wait visit.slot w);
          withdraw = (fun visit _ -> Slot.leave visit.slot);
        };
  }

(* Whoever calls it leaves if it raises. *)
let rec spin_and_wait visit =
  match visit.f () with
  | Some v ->
      use visit;
      Slot.leave visit.slot;
      v
  | None ->
      use visit;
      ignore (Operation.wait waiting_for_change visit () : wake);
      take_slot visit;
      spin_and_wait visit

(* The slot is taken before the first look, too. Without it, that look would have to be
   made once more before the wait. *)
let loop_no_mutex condition f =
  let slot = Slot.make condition in
  let visit = visit condition f slot in
  Slot.enter slot;
  match spin_and_wait visit with
  | v -> v
  | exception e ->
      let backtrace = Backtrace.get () in
      leave visit;
      Printexc.raise_with_backtrace e backtrace

(* Has [f] ended the visit? What it raises, it raises where the event is performed, as
   the functions around the event are to see it. *)
let is_over visit =
  match visit.f () with
  | Some v ->
      use visit;
      leave visit;
      visit.got <- (fun () -> v);
      true
  | None -> false
  | exception e ->
      let backtrace = Backtrace.get () in
      leave visit;
      visit.got <- (fun () -> Printexc.raise_with_backtrace e backtrace);
      true

(* A slot that was taken for an earlier look is there for this one too, unless it was
   woken or withdrawn. *)
let look_from_slot visit () =
  if not (Slot.is_unwoken visit.slot) then take_slot visit;
  if is_over visit then Some Signal else None

let looking =
  {
    Operation.default with
    name = "Condition.loop_no_mutex";
    how =
      By_hand
        {
          attempt = look_from_slot;
          enlist =
            (fun visit w ->
              Slot.wait visit.slot w
              && begin
                use visit;
                true
              end);
          withdraw = (fun visit _ -> Slot.leave visit.slot);
        };
  }

let loop_no_mutex_evt condition f =
  Event.guard @@ fun () ->
  let visit = visit condition f Slot.nowhere in
  let confirm (_ : wake) =
    visit.before <- visit.slot;
    visit.slot <- Slot.nowhere;
    is_over visit
  in
  let event = Event.make_by (Tentative confirm) looking visit () in
  Event.wrap_withdraw
    (Event.wrap event (fun _ -> visit.got ()))
    (fun () -> leave visit)
