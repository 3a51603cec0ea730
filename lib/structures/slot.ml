(* A slot is the position of one task in the queue of a condition. A task takes a slot before
   it checks the state that it waits for, and the slot remembers a wake-up until the task
   waits. So no wake-up that comes after the check is missed.

   [state], of one slot

   State      Left by         To         By whom
   Looking    a wake-up     * Woken      any task
              wait            Waiting w  the task
              leave           Left       the task; it then withdraws the slot
   Waiting w  a wake-up     * Woken      any task, once [w] has accepted
              leave           Left       the task; it then withdraws the slot
   Woken      leave           Passed_on  the task; it then passes the signal on
              make_again      Looking    a task that uses the seat for its next slot
   Left       a wake-up       Woken      a waking task that was stopped after [w]
                                         had accepted; it then passes the signal on
   Passed_on  never (terminal)

   * linearises the wake-up. At most one task wakes a slot, because it takes the slot out of
   the queue first. A task that needs the wake-up just forgets the slot, and writes nothing.

   A task may leave although it is being resumed, because a signal handler has raised in it.
   There are two cases. If it leaves before the waking task has seen that [w] accepts, the
   wake-up is refused, and the signal goes to the next slot. If it leaves after that, it finds
   [Woken], and has to pass the signal on. A task that gets a signal after its last check also
   passes it on.

   A seat, the part of a slot that is in the queue, may be used again after a check that a
   signal ended. The task that gave the signal took the seat out of the queue, and that was its
   last access. Other tasks only compare an old queue with the present one, so only the owner
   still uses the seat. Two other cases don't allow this. A broadcast may call the resumer again
   (unbroken). And once the task has suspended, the state changes only after the resumer has
   answered. *)
type state =
  | Looking
  | Waiting of { wakes : Wakes.t; waiter : (unit, Wakes.wake) Waiter.t }
  | Woken of Wakes.wake
  | Passed_on
  | Left

(* The part of a slot that other domains access. It doesn't refer to the condition, because an
   unused seat would keep the condition alive. *)
type seat = {
  state : state Atomic.t;
  waiter : (unit, Wakes.wake) Waiter.t;
  alone : (unit, Wakes.wake) Waiters.t;
      (** The queue, if no other task waits. *)
}

type t = { wakes : Wakes.t; seat : seat }

(* Unbroken, from the compare-and-set that takes a waiter out of its queue to the decision of
   its resumer (see [Waiter.resume]), and from there to the end of the wake-up. So these are
   constants. *)
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

(* This is not [Step.withdraw], because the waiter must be marked once, and counted only if no
   wake-up has taken it. *)
let withdraw_slot slot =
  if Waiter.is_live slot.seat.waiter then begin
    Waiter.mark_withdrawn slot.seat.waiter;
    Step.surely slot.wakes count_withdrawn_step ()
  end

(* Unbroken by the caller, which calls it again. *)
let rec leave slot =
  match Atomic.get slot.seat.state with
  | Woken Signal -> Step.surely slot.seat.state pass_on_step slot.wakes
  | Woken Broadcast | Passed_on -> ()
  | Left -> withdraw_slot slot
  | (Looking | Waiting _) as state ->
      if Atomic.compare_and_set slot.seat.state state Left then
        withdraw_slot slot
      else (* a wake-up came *) leave slot

(* Returns [false] if the task has left meanwhile. *)
let accepted state waiting wake =
  Atomic.compare_and_set state waiting (woken wake) || Atomic.get state != Left

(* Unbroken. If the resumer raises, it has accepted. So if the task has left, the signal is
   passed on from here. *)
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

(* This is not a step, because a step allocates its answer, but a resumer must not allocate
   before it has decided. *)
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
      | Woken _ -> (* this wake-up is repeated (unbroken) *) false
      | Passed_on | Left -> false
      | Looking ->
          assert false (* no slot returns to [Looking] while a task wakes it *))

let new_seat () =
  let state = Atomic.make Looking in
  let resumer outcome = wake state outcome in
  let waiter = Waiter.make_live resumer in
  { state; waiter; alone = Waiters.push Waiters.empty waiter }

let make wakes = { wakes; seat = new_seat () }

let enter { wakes; seat } =
  if not (Atomic.compare_and_set wakes Waiters.empty seat.alone) then
    (* other tasks wait *) Wakes.push wakes seat.waiter

(* All tasks share it, because nothing is written to it. *)
let no_seat =
  let waiter = Waiter.make () in
  { state = Atomic.make Left; waiter; alone = Waiters.empty }

let nowhere = { wakes = Wakes.create (); seat = no_seat }

let is_unwoken slot =
  match Atomic.get slot.seat.state with
  | Looking -> true
  | Waiting _ | Woken _ | Passed_on | Left -> false

(* --- Seats that are used again -------------------------------------------- *)

(* A new seat has three cache lines that the other domain has never read. An old one may still
   be in the cache there, except for the line that this domain writes. The page decisions.mld
   has what this gains. *)

type spare = { mutable unused : seat  (** Or [no_seat]. *) }

let spares = Domain.DLS.new_key (fun () -> { unused = no_seat })

(* No other thread of the domain runs between the read and the write. *)
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
