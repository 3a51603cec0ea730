include Wakes

(* A report then shows the condition, instead of the record made for one wait. *)
let part_of condition part = Observer.waited_in ~from:condition part

(* --- Waiting -------------------------------------------------------------- *)

(* One call of [wait]. Only the waiting task uses the fields. *)
type wait = {
  condition : t;
  mutex : Mutex.t;
  mutable unlocked : bool;
  mutable slot : Slot.t;  (** The slot in which the task spins, or [nowhere]. *)
  mutable asleep : bool;  (** The task has suspended in its slot. *)
}

let not_locked () = raise (Sys_error "Condition.wait: the mutex is not locked")

let unlock_once wait =
  if not wait.unlocked then
    match Mutex.give_back wait.mutex with
    | () -> wait.unlocked <- true
    | exception e when e == Mutex.not_permitted ->
        (* another task has unlocked it *) not_locked ()
    | exception e ->
        (* Whatever else is raised, the mutex is unlocked. *)
        wait.unlocked <- true;
        raise e

(* The waiter is in the queue before the mutex is unlocked, so a signal that comes after that
   finds the waiter. [wait.unlocked] is exact, whatever is raised meanwhile.

   [attempt] has seen the mutex locked. If it no longer is, another task or another alternative of
   this choice has unlocked it, which is a mistake of the program, and [refuse] raises. This is
   the only [enlist] that may raise. It marks the waiter as withdrawn, so that the caller doesn't
   withdraw it again. *)
let enlist refuse wait w =
  if not (wait.unlocked || Mutex.is_locked wait.mutex) then begin
    Waiter.mark_withdrawn w;
    refuse ()
  end;
  push wait.condition w;
  unlock_once wait;
  true

(* A choice can't know which of the two has unlocked the mutex. *)
let unlocked_meanwhile () =
  invalid_arg
    "Condition.wait_evt: the mutex was unlocked after the choice began. Two \
     alternatives of one choice can't use the same mutex"

let check wait = if not (Mutex.is_locked wait.mutex) then not_locked ()

(* If a choice begins again after it has unlocked the mutex, it was in no queue for a moment,
   and may have missed a signal. So it continues as if it had got one. *)
let attempt wait () =
  if wait.unlocked then Some Signal
  else begin
    check wait;
    None
  end

(* A signal that a task can't use goes to the next one. *)
let pass_on condition = function
  | Signal ->
      ignore (Step.surely condition Bvar.signal_step Signal : bool);
      true
  | Broadcast -> true

let waiting_or refuse =
  {
    Operation.default with
    name = "Condition.wait";
    undo = (fun wait () wake -> pass_on wait.condition wake);
    how =
      By_hand
        {
          attempt;
          enlist = enlist refuse;
          withdraw =
            (fun wait w ->
              Step.withdraw wait.condition Bvar.queue Step.finished w);
        };
  }

let waiting = waiting_or not_locked
let waiting_in_choice = waiting_or unlocked_meanwhile

(* Unbroken, from the locking to the assignment that records it. *)
let lock_now wait =
  if Mutex.try_lock wait.mutex then wait.unlocked <- false
  else
    Suspend.protect (fun () ->
        Mutex.lock wait.mutex;
        wait.unlocked <- false)

(* Unbroken. The task must also have the mutex if it was cancelled. It tries only twice, because
   on a host that protects nothing each wait of a cancelled task raises. *)
let lock_again wait =
  if wait.unlocked then (
    try lock_now wait
    with e ->
      let backtrace = Backtrace.get () in
      (try if wait.unlocked then lock_now wait with _ -> ());
      Printexc.raise_with_backtrace e backtrace)

let start condition mutex =
  let unlocked = false and slot = Slot.nowhere and asleep = false in
  part_of condition { condition; mutex; unlocked; slot; asleep }

let rec leave_both first second =
  try
    Slot.leave first;
    Slot.leave second
  with e ->
    (* unbroken *)
    leave_both first second;
    raise e

(* --- Spinning first ------------------------------------------------------- *)

(* A wake-up counts only after the mutex was unlocked. Otherwise a program that signals without
   the mutex could make the task continue again and again, and others would never get the
   mutex. *)
let attempt_in_slot wait () =
  if wait.unlocked then Slot.check wait.slot else None

let waiting_in_slot =
  {
    waiting with
    how =
      By_hand
        {
          attempt = attempt_in_slot;
          enlist =
            (fun wait w ->
              unlock_once wait;
              wait.asleep <- true;
              Slot.wait wait.slot w);
          withdraw = (fun _ _ -> (* the task that waits leaves the slot *) ());
        };
  }

let spinning_in_slot = { waiting_in_slot with spin = Before }

(* Unbroken, from the release to the assignment. *)
let unlock_unless_queued wait =
  if Mutex.try_release wait.mutex then wait.unlocked <- true

(* In a program with several domains, a signal may come sooner than the task could fall asleep.
   So the task enters the queue with a slot, and spins there. The task may have been cancelled
   before, but it learns that only when it suspends. Then it should not have let another task
   in. So before it suspends, it unlocks the mutex only if no task waits for it. *)
let[@inline never] spin_then_wait wait =
  wait.slot <- Slot.make_again wait.condition;
  Slot.enter wait.slot;
  try
    unlock_unless_queued wait;
    let how = if wait.unlocked then spinning_in_slot else waiting_in_slot in
    let wake = Operation.wait how wait () in
    if wake = Signal && not wait.asleep then Slot.give_back wait.slot;
    wake
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

(* A choice enlists this event after the others. If it was enlisted before, another alternative
   might seem ready after the mutex was unlocked, and then be lost to another task. A signal
   that comes in between would be missed. *)
let wait_evt condition mutex =
  Event.guard @@ fun () ->
  let wait = start condition mutex in
  let lock_again () = lock_again wait in
  Event.wrap_withdraw
    (Event.make_by
       (Last_and_finish (fun _ -> Sys.opaque_identity (lock_again ())))
       waiting_in_choice wait ())
    lock_again

(* --- Without a mutex ------------------------------------------------------ *)

let waiting_only =
  {
    Bvar.waiting with
    name = "Condition.wait_no_mutex";
    undo = (fun condition () wake -> pass_on condition wake);
  }

let wait_no_mutex t = ignore (Operation.wait waiting_only t () : wake)

let wait_no_mutex_evt t =
  Event.make_by (Last_and_finish ignore) waiting_only t ()

(* One call of [loop_no_mutex], or one synchronisation of its event. Only its task uses the
   fields. *)
type 'a visit = {
  condition : t;
  f : unit -> 'a option;
  mutable slot : Slot.t;
  mutable before : Slot.t;
      (** The slot whose wake-up made the task call [f] again. The task forgets
          it once it has used the wake-up, because [f] returned a value or the
          task waits again. *)
  mutable got : unit -> 'a;
      (** Returns the value of [f], or raises its exception. *)
}

(* [got] is not called before [is_over] has set it. *)
let visit condition f slot =
  let got () = assert false in
  part_of condition { condition; f; slot; before = Slot.nowhere; got }

(* The task has used the wake-up of [before], so it forgets that slot. Mostly there is none, and
   nothing is written. *)
let use visit =
  if visit.before != Slot.nowhere then visit.before <- Slot.nowhere

(* Unbroken, from [Slot.enter] to the assignments. Otherwise the slot would stay in the
   queue. *)
let take_slot visit =
  let slot = Slot.make visit.condition in
  Slot.enter slot;
  if visit.slot != Slot.nowhere then visit.before <- visit.slot;
  visit.slot <- slot

let leave visit = leave_both visit.before visit.slot

(* The function that waits leaves the slot if it raises. *)
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

(* The caller of this function leaves the slots if it raises. *)
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

(* The slot is taken even before the first call of [f]. Otherwise [f] would have to be called
   once more before the wait. *)
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

(* Calls [f], and returns [true] if that ended the visit. If [f] raises, the exception is
   raised later, where the event is performed, so that the functions around the event see
   it. *)
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

(* The slot of an earlier attempt serves this one too, unless it was woken or withdrawn. *)
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
