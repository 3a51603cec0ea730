(* [t], the only Atomic here: the tasks that wait

   Left by           To            By whom
   wait              ws, w         the task that waits, which then unlocks
   cancelled wait    ws - w        the task that enlisted w
   signal          * ws - w        anyone, if ws = w::_; it calls w
   broadcast       * []            anyone; it calls all of ws

   * linearises the operation, if the resumer answers [true]; if it refuses, [signal]
   goes on to the next one. *)
type t = (unit, unit) Waiters.t Atomic.t

let create () = Atomic.make Waiters.empty

let rec signal t =
  let waiters = Atomic.get t in
  if not (Waiters.is_empty waiters) then
    let w = Waiters.head waiters in
    if
      not
        (Atomic.compare_and_set t waiters (Waiters.tail waiters)
        && Waiter.resume w (Ok ()))
    then (* a waiter came or withdrew; or [w] refused *) signal t

let rec broadcast t =
  let waiters = Atomic.get t in
  if not (Waiters.is_empty waiters) then
    let round = Waiters.round waiters (Ok ()) in
    if Atomic.compare_and_set t waiters Waiters.empty then
      Waiters.resume_all round
    else (* a waiter came or withdrew, or a signal *) broadcast t

(* --- Waiting -------------------------------------------------------------- *)

(* One call of [wait]. Only the task that waits touches [unlocked]. *)
type wait = { condition : t; mutex : Mutex.t; mutable unlocked : bool }

let rec push t w =
  let waiters = Atomic.get t in
  if not (Atomic.compare_and_set t waiters (Waiters.push waiters w)) then
    (* another waiter, a signal, or a withdrawal *)
    push t w

(* A signal that comes after the mutex is unlocked finds the waiter.

   Misuse shows here only, as [attempt] has seen the mutex locked: so this [enlist] may
   raise, which others must not do. The waiter is gone then, and is not withdrawn. *)
let enlist wait w =
  if not (wait.unlocked || Mutex.is_locked wait.mutex) then begin
    Waiter.mark_gone w;
    invalid_arg "Condition.wait_evt: twice in one choice with one mutex"
  end;
  push wait.condition w;
  if not wait.unlocked then begin
    Mutex.unlock wait.mutex;
    wait.unlocked <- true
  end;
  true

let check wait =
  if not (Mutex.is_locked wait.mutex) then
    raise (Sys_error "Condition.wait: the mutex is not locked")

(* A choice that begins again after it has unlocked the mutex did not wait for a moment.
   A signal that came in that moment must not be missed. *)
let attempt wait () =
  if wait.unlocked then Some ()
  else begin
    check wait;
    None
  end

let waiting =
  {
    Operation.attempt;
    enlist;
    withdraw =
      (fun wait _ -> Atomically.update wait.condition Waiters.count_gone);
  }

(* The task may have been cancelled, and must have the mutex all the same. *)
let lock_again wait =
  if wait.unlocked then begin
    wait.unlocked <- false;
    if not (Mutex.try_lock wait.mutex) then
      Suspend.protect (fun () -> Mutex.lock wait.mutex)
  end

let start condition mutex = { condition; mutex; unlocked = false }

let wait condition mutex =
  let wait = start condition mutex in
  check wait;
  match Operation.wait waiting wait () with
  | () -> lock_again wait
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      lock_again wait;
      Printexc.raise_with_backtrace e backtrace

(* Enlisted last: if another alternative could be found ready after the mutex was
   unlocked, and then be lost to another task, a signal in between would be missed. *)
let wait_evt condition mutex =
  Event.guard @@ fun () ->
  let wait = start condition mutex in
  let lock_again () = lock_again wait in
  Event.wrap_withdraw
    (Event.make_with ~last:true ~finish:lock_again waiting wait ())
    lock_again

let waiters t = Waiters.length (Atomic.get t)
