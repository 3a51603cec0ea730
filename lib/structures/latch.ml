(* A counter that opens at 0, and the tasks that wait for that. This is the shortest structure
   of the library, so begin here if you have read none.

   [t], the only Atomic here

   State           Left by            To                By whom
   Shut (n, ws)    count_up         * Shut (n + 1, ws)  any task
                   count_down, n > 1* Shut (n - 1, ws)  any task
                   count_down, n = 1* Open              any task; it resumes all of ws
   Open            never (terminal)

   In addition, waiters enter [ws] while the latch is shut, and withdraw.

   * linearises the operation. An [await] that doesn't wait linearises at the read that sees
   [Open]. The answers of the resumers don't matter, because the latch stays open. *)
type state = Shut of int * (unit, unit) Waiters.t | Open
type t = state Atomic.t

let make n = Atomic.make (if n = 0 then Open else Shut (n, Waiters.empty))

let create ?name n =
  if n < 0 then
    invalid_arg
      (Printf.sprintf "Latch.create: the count is %d, but must not be negative"
         n);
  Observer.made ~kind:"latch" ?name (make n)

(* --- Steps ---------------------------------------------------------------- *)

let is_already_open = Invalid_argument "Latch.count_down: the latch is open"

let count_down_step () : _ -> _ Step.t = function
  | Open -> Raise is_already_open
  | Shut (1, waiters) ->
      Become (Open, Step.resume_all waiters (Ok ()) Step.finished)
  | Shut (n, waiters) -> Return (Shut (n - 1, waiters), ())

let cannot_count_up = Invalid_argument "Latch.count_up: the latch is open"
let overflow = Sys_error "Latch.count_up: overflow"

let count_up_step () : _ -> _ Step.t = function
  | Open -> Raise cannot_count_up
  | Shut (n, _) when n = max_int -> Raise overflow
  | Shut (n, waiters) -> Return (Shut (n + 1, waiters), ())

let await_step () : _ -> _ Step.t = function
  | Open -> Return (Open, ())
  | Shut _ -> Wait

(* --- The waiters ---------------------------------------------------------- *)

let queue change w = function
  | Open -> Open
  | Shut (n, waiters) -> Shut (n, change waiters w)

let missing t =
  match Atomic.get t with
  | Open -> "open"
  | Shut (n, _) -> Printf.sprintf "%d to count down" n

let awaiting =
  {
    Operation.default with
    name = "Latch.await";
    undo = Operation.undo_nothing;
    state = missing;
    spin = Before;
    how =
      By_steps { word = Fun.id; step = await_step; queue; left = Step.finished };
  }

(* --- Operations ----------------------------------------------------------- *)

let count_down t = Step.perform t count_down_step ()
let count_up t = Step.perform t count_up_step ()
let is_open t = Atomic.get t == Open
let await t = if not (is_open t) then Operation.wait awaiting t ()
let await_evt t = Event.make awaiting t ()
let count t = match Atomic.get t with Open -> 0 | Shut (n, _) -> n

let waiters t =
  match Atomic.get t with
  | Open -> 0
  | Shut (_, waiters) -> Waiters.length waiters
