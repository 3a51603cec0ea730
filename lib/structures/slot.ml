(* [state] of a slot in the queue, which a task takes before it looks at what it waits
   for: so it misses no wake that comes after it has looked

   State      Left by         To         By whom
   Looking    a wake        * Woken      any task
              wait            Waiting w  the task
              leave           Left       the task; it then withdraws the slot
   Waiting w  a wake        * Woken      any task, once [w] has accepted
              leave           Left       the task; it then withdraws the slot
   Woken      leave           Passed_on  the task; a signal is passed on
              make_again      Looking    a task that takes the seat for its own slot
   Left       a wake          Woken      a task whose own signal handler has raised after
                                         [w] had accepted; it then leaves the slot
   Passed_on  never (terminal)

   * linearises the wake. One task at most wakes a slot, as it has taken the slot out of
   the queue. A task that needs the wake forgets the slot, and has nothing to write.

   A task may leave although it was resumed: a signal handler has raised in it. It leaves
   before it was seen that [w] has accepted, and then the wake is refused, so that the
   signal goes on; or after it, and then the task finds the signal, and owes it to the
   others. So does a task to which a signal comes after its last look.

   Where a look ends by a signal, the task that gave it has taken the seat out of the queue,
   and was done with it at that compare-and-set; so nobody but the task that looked refers
   to it for more than a comparison with the queue, and it may be used again. Not so after
   a broadcast, which a handler may interrupt, and which then calls the resumer again; nor
   once the task has suspended, as then the state follows the resumer. *)
type state =
  | Looking
  | Waiting of { wakes : Wakes.t; waiter : (unit, Wakes.wake) Waiter.t }
  | Woken of Wakes.wake
  | Passed_on
  | Left

(* What other domains touch of a slot. It does not refer to the condition, which it
   would keep alive between two uses. *)
type seat = {
  state : state Atomic.t;
  waiter : (unit, Wakes.wake) Waiter.t;
  alone : (unit, Wakes.wake) Waiters.t;  (** The queue, if nobody else waits. *)
}

type t = { wakes : Wakes.t; seat : seat }

(* Constants: where something is allocated a signal handler may raise. There is no such
   point between the compare-and-set that takes a waiter out of its queue and the decision
   of its resumer (see [Waiter.resume]), nor between that and the end of a wake. *)
let woken : Wakes.wake -> state = function
  | Signal -> Woken Signal
  | Broadcast -> Woken Broadcast

let signal_step waiters = Bvar.signal_step Wakes.Signal waiters

let pass_on_step wakes : state -> _ Step.t = function
  | Woken Signal ->
      Become (Passed_on, At (wakes, signal_step, fun _ -> Step.finished))
  | state -> Return (state, ())

let count_withdrawn_step () waiters : _ Step.t =
  Return (Waiters.count_withdrawn waiters, ())

(* By hand, because the waiter is marked once, and counted only if no wake has taken it. *)
let withdraw_slot slot =
  if Waiter.is_live slot.seat.waiter then begin
    Waiter.mark_withdrawn slot.seat.waiter;
    Step.surely slot.wakes count_withdrawn_step ()
  end

(* If a handler raises, it is to be called again. *)
let rec leave slot =
  match Atomic.get slot.seat.state with
  | Woken Signal -> Step.surely slot.seat.state pass_on_step slot.wakes
  | Woken Broadcast | Passed_on -> ()
  | Left -> withdraw_slot slot
  | (Looking | Waiting _) as state ->
      if Atomic.compare_and_set slot.seat.state state Left then
        withdraw_slot slot
      else (* a wake *) leave slot

(* Has the task not left meanwhile? *)
let accepted state waiting wake =
  Atomic.compare_and_set state waiting (woken wake) || Atomic.get state != Left

(* If the resumer raises, which is a handler's exception, it has accepted. *)
let wake_waiting wakes state waiting w outcome wake =
  match Waiter.resume w outcome with
  | accepts -> accepts && accepted state waiting wake
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if not (accepted state waiting wake) then begin
        Atomic.set state (woken wake);
        Step.surely state pass_on_step wakes
      end;
      Printexc.raise_with_backtrace e backtrace

(* By hand, because a resumer has to decide before it allocates, and a step allocates its
   answer. *)
let wake state outcome =
  match outcome with
  | Error _ -> assert false (* a condition resumes with [Ok] *)
  | Ok wake -> (
      Atomic.get state == Looking
      && Atomic.compare_and_set state Looking (woken wake)
      ||
      match Atomic.get state with
      | Waiting { wakes; waiter } as waiting ->
          wake_waiting wakes state waiting waiter outcome wake
      | Woken _ -> (* by this wake, before a handler raised *) false
      | Passed_on | Left -> false
      | Looking -> assert false (* the task does not come back to look *))

let new_seat () =
  let state = Atomic.make Looking in
  let resumer outcome = wake state outcome in
  let waiter = Waiter.make_live resumer in
  { state; waiter; alone = Waiters.push Waiters.empty waiter }

let make wakes = { wakes; seat = new_seat () }

let enter { wakes; seat } =
  if not (Atomic.compare_and_set wakes Waiters.empty seat.alone) then
    (* others wait *) Wakes.push wakes seat.waiter

(* Shared: nothing is written to it. *)
let no_seat =
  let waiter = Waiter.make () in
  { state = Atomic.make Left; waiter; alone = Waiters.empty }

let nowhere = { wakes = Wakes.create (); seat = no_seat }

let is_unwoken slot =
  match Atomic.get slot.seat.state with
  | Looking -> true
  | Waiting _ | Woken _ | Passed_on | Left -> false

(* --- Seats that are used again ------------------------------------------------ *)

(* A new one is three cache lines that the other domain has never seen; of an old one it has
   still what nobody writes. *)

type spare = { mutable unused : seat  (** Or [no_seat]. *) }

let spares = Domain.DLS.new_key (fun () -> { unused = no_seat })

(* No other thread of the domain runs between reading and writing. *)
let take spare =
  let seat = spare.unused in
  spare.unused <- no_seat;
  seat

let make_again wakes =
  let seat = take (Domain.DLS.get spares) in
  if seat == no_seat then make wakes
  else begin
    Atomic.set seat.state Looking;
    { wakes; seat }
  end

let give_back slot = (Domain.DLS.get spares).unused <- slot.seat

let check slot =
  match Atomic.get slot.seat.state with
  | Woken wake -> Some wake
  | Looking | Waiting _ | Passed_on | Left -> None

let wait { wakes; seat } waiter =
  Atomic.compare_and_set seat.state Looking (Waiting { wakes; waiter })
