(* [t], the only Atomic here: the tasks that wait

   Left by           To            By whom
   wait              ws, w         the task that waits, which then unlocks
   cancelled wait    ws - w        the task that enlisted w
   signal          * ws - w        anyone, if ws = w::_; it calls w
   broadcast       * []            anyone; it calls all of ws

   * linearises the operation, if the resumer answers [true]; if it refuses, [signal]
   goes on to the next one. *)
type wake = Signal | Broadcast
type t = (unit, wake) Waiters.t Atomic.t

let create () = Atomic.make Waiters.empty

let rec signal t =
  let waiters = Atomic.get t in
  if not (Waiters.is_empty waiters) then
    let w = Waiters.head waiters in
    if
      not
        (Atomic.compare_and_set t waiters (Waiters.tail waiters)
        && Waiter.resume w (Ok Signal))
    then (* a waiter came or withdrew; or [w] refused *) signal t

let rec broadcast t =
  let waiters = Atomic.get t in
  if not (Waiters.is_empty waiters) then
    let round = Waiters.round waiters (Ok Broadcast) in
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
  if wait.unlocked then Some Signal
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
  | Signal | Broadcast -> lock_again wait
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
    (Event.make_with ~last:true
       ~finish:(fun _ -> lock_again ())
       waiting wait ())
    lock_again

let waiters t = Waiters.length (Atomic.get t)

(* --- Without a mutex ------------------------------------------------------- *)

let waiting_only =
  {
    Operation.attempt = (fun _ () -> None);
    enlist =
      (fun t w ->
        push t w;
        true);
    withdraw = (fun t _ -> Atomically.update t Waiters.count_gone);
  }

let wait_no_mutex t = ignore (Operation.wait waiting_only t () : wake)

let wait_no_mutex_evt t =
  Event.make_with ~last:true ~finish:ignore waiting_only t ()

(* [state] of a place in the queue, which a task takes before it looks at what it waits
   for: so it misses no wake that comes after it has looked

   State      Left by         To         By whom
   Looking    a wake        * Woken      any task
              enlist          Waiting w  the task
              leave           Left       the task; it then withdraws the place
   Waiting w  withdraw        Left       the task; it then withdraws the place
   Woken, Left  never (terminal)

   * accepts the wake. In [Waiting w] a wake calls [w], which accepts or refuses: the
   state stays, and the place is out of the queue. A signal may have been accepted after
   the task has looked for the last time: the task that leaves a place that is [Woken]
   passes a signal on. *)
type state = Looking | Waiting of (unit, wake) Waiter.t | Woken of wake | Left

type place = {
  condition : t;
  state : state Atomic.t;
  waiter : (unit, wake) Waiter.t;
}

let rec wake state outcome =
  match (Atomic.get state, outcome) with
  | Looking, Ok wake_ ->
      Atomic.compare_and_set state Looking (Woken wake_)
      ||
      (* the task waits or leaves, or another wake *)
      wake state outcome
  | Waiting w, _ -> Waiter.resume w outcome
  | (Woken _ | Left), _ -> false
  | Looking, Error _ -> assert false (* a condition resumes with [Ok] *)

let take_place condition =
  let state = Atomic.make Looking and waiter = Waiter.make () in
  waiter.resumer <- wake state;
  push condition waiter;
  { condition; state; waiter }

let withdraw_place place =
  if Waiter.is_live place.waiter then begin
    Waiter.mark_gone place.waiter;
    Atomically.update place.condition Waiters.count_gone
  end

let pass_on condition = function
  | Signal -> signal condition
  | Broadcast -> (* it woke all others too *) ()

let leave place =
  if Atomic.compare_and_set place.state Looking Left then withdraw_place place
  else
    match Atomic.get place.state with
    | Woken wake -> pass_on place.condition wake
    | Waiting _ | Left -> ()
    | Looking -> assert false (* only the task itself comes to look *)

let in_place =
  {
    Operation.attempt =
      (fun place () ->
        match Atomic.get place.state with
        | Woken wake -> Some wake
        | Looking | Waiting _ | Left -> None);
    enlist =
      (fun place w -> Atomic.compare_and_set place.state Looking (Waiting w));
    withdraw =
      (fun place _ ->
        Atomic.set place.state Left;
        withdraw_place place);
  }

(* [owed]: the wake after which the task looks. *)
let rec look_and_wait condition f owed =
  let place = take_place condition in
  match f () with
  | Some v ->
      leave place;
      v
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      leave place;
      pass_on condition owed;
      Printexc.raise_with_backtrace e backtrace
  | None -> (
      match Operation.wait in_place place () with
      | owed -> look_and_wait condition f owed
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          leave place;
          Printexc.raise_with_backtrace e backtrace)

let loop_no_mutex condition f =
  match f () with Some v -> v | None -> look_and_wait condition f Broadcast

(* One synchronisation of [loop_no_mutex_evt]. Only its task touches the fields. *)
type 'a loop = {
  condition : t;
  f : unit -> 'a option;
  mutable place : place;
  mutable owed : wake;  (** What it was woken by since it waited last. *)
  mutable got : 'a option;
}

let nowhere =
  { condition = create (); state = Atomic.make Left; waiter = Waiter.make () }

let look loop =
  match loop.f () with
  | Some _ as got ->
      leave loop.place;
      loop.got <- got;
      true
  | None -> false
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      leave loop.place;
      pass_on loop.condition loop.owed;
      Printexc.raise_with_backtrace e backtrace

(* A place that was taken for an earlier look is there for this one too, unless it was
   woken or withdrawn. *)
let look_from_place loop () =
  (match Atomic.get loop.place.state with
  | Looking -> ()
  | Woken wake ->
      loop.owed <- wake;
      loop.place <- take_place loop.condition
  | Waiting _ | Left -> loop.place <- take_place loop.condition);
  if look loop then Some loop.owed else None

let looping =
  {
    Operation.attempt = look_from_place;
    enlist =
      (fun loop w ->
        in_place.enlist loop.place w
        && begin
          loop.owed <- Broadcast;
          true
        end);
    withdraw = (fun loop w -> in_place.withdraw loop.place w);
  }

let loop_no_mutex_evt condition f =
  Event.guard @@ fun () ->
  let loop = { condition; f; place = nowhere; owed = Broadcast; got = None } in
  let confirm wake =
    loop.owed <- wake;
    look loop
  in
  let event = Event.make_tentative ~confirm looping loop () in
  Event.wrap_withdraw
    (Event.wrap event (fun _ -> Option.get loop.got))
    (fun () -> leave loop.place)
