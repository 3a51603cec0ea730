(* [state] of a place in the queue, which a task takes before it looks at what it waits
   for: so it misses no wake that comes after it has looked

   State      Left by         To         By whom
   Looking    a wake        * Woken      any task
              enlist          Waiting w  the task
              leave           Left       the task; it then withdraws the place
   Waiting w  a wake        * Woken      any task, once [w] has accepted
              use             Used       the task, resumed by [w]
              leave           Left       the task; it then withdraws the place
   Woken      use             Used       the task, which has looked since
              leave           Used       the task; a signal is passed on
   Left       a wake          Woken      a task whose own signal handler has raised after
                                         [w] had accepted; it then leaves the place
   Used       never (terminal)

   * linearises the wake. One task at most wakes a place, as it has taken the place out of
   the queue. A task may leave although it was resumed: a signal handler has raised in it.
   It leaves before it was seen that [w] has accepted, and then the wake is refused, so
   that the signal goes on; or after it, and then the task finds the signal, and owes it
   to the others. So does a task to which a signal comes after its last look. *)
type state =
  | Looking
  | Waiting of (unit, Wakes.wake) Waiter.t
  | Woken of Wakes.wake
  | Used
  | Left

type t = {
  wakes : Wakes.t;
  state : state Atomic.t;
  waiter : (unit, Wakes.wake) Waiter.t;
}

(* Constants: where something is allocated a signal handler may raise. There is no such
   point between the compare-and-set that takes a waiter out of its queue and the decision
   of its resumer (see [Waiter.resume]), nor between that and the end of a wake. *)
let woken : Wakes.wake -> state = function
  | Signal -> Woken Signal
  | Broadcast -> Woken Broadcast

(* As [Wakes.signal]. What is still owed stands in the state, as a handler may raise. *)
let rec pass_on place =
  let waiters = Atomic.get place.wakes in
  if Waiters.is_empty waiters then Atomic.set place.state Used
  else
    let w = Waiters.head waiters and rest = Waiters.tail waiters in
    if Atomic.compare_and_set place.wakes waiters rest then begin
      Atomic.set place.state Used;
      if not (Waiter.resume w (Ok Wakes.Signal)) then begin
        Atomic.set place.state (woken Signal);
        pass_on place
      end
    end
    else (* a waiter came or withdrew, or another wake *) pass_on place

let withdraw_place place =
  if Waiter.is_live place.waiter then begin
    Waiter.mark_gone place.waiter;
    Atomically.update_surely place.wakes Waiters.count_gone
  end

(* If a handler raises, it is to be called again. *)
let rec leave place =
  match Atomic.get place.state with
  | Woken Signal -> pass_on place
  | Woken Broadcast | Used -> ()
  | Left -> withdraw_place place
  | (Looking | Waiting _) as state ->
      ignore (Atomic.compare_and_set place.state state Left : bool);
      leave place

(* Has the task not left meanwhile? *)
let accepted place waiting wake =
  Atomic.compare_and_set place.state waiting (woken wake)
  || Atomic.get place.state != Left

(* If the resumer raises, which is a handler's exception, it has accepted. *)
let wake_waiting place waiting w outcome wake =
  match Waiter.resume w outcome with
  | accepts -> accepts && accepted place waiting wake
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if not (accepted place waiting wake) then begin
        Atomic.set place.state (woken wake);
        leave place
      end;
      Printexc.raise_with_backtrace e backtrace

let wake place outcome =
  match outcome with
  | Error _ -> assert false (* a condition resumes with [Ok] *)
  | Ok wake -> (
      Atomic.compare_and_set place.state Looking (woken wake)
      ||
      match Atomic.get place.state with
      | Waiting w as waiting -> wake_waiting place waiting w outcome wake
      | Woken _ -> (* by this wake, before a handler raised *) false
      | Used | Left -> false
      | Looking -> assert false (* the task does not come back to look *))

let make wakes =
  let place = { wakes; state = Atomic.make Looking; waiter = Waiter.make () } in
  place.waiter.resumer <- (fun outcome -> wake place outcome);
  place

let enter place = Wakes.push place.wakes place.waiter

(* Shared: nothing is written to it. *)
let nowhere =
  { wakes = Wakes.create (); state = Atomic.make Used; waiter = Waiter.make () }

let use place = if place != nowhere then Atomic.set place.state Used

let is_unwoken place =
  match Atomic.get place.state with
  | Looking -> true
  | Waiting _ | Woken _ | Used | Left -> false

let waiting =
  {
    Operation.attempt =
      (fun place () ->
        match Atomic.get place.state with
        | Woken wake -> Some wake
        | Looking | Waiting _ | Used | Left -> None);
    enlist =
      (fun place w -> Atomic.compare_and_set place.state Looking (Waiting w));
    withdraw = (fun place _ -> leave place);
  }
