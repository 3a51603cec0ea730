(* A queue of tasks that wait for a value. It stores no value, so a signal reaches only tasks
   that wait already.

   [t], the only Atomic here, is the queue [ws] of waiting tasks

   Left by           To            By whom
   signal          * ws - w        any task, if ws = w::_; it resumes w
   broadcast       * []            any task; it resumes all of ws

   In addition, waiters enter [ws] and withdraw.

   * linearises the operation if the resumer answers [true]. If a waiter refuses, [signal]
   tries the next one. *)
type 'a t = (unit, 'a) Waiters.t Atomic.t

let create ?name () =
  Observer.made ~kind:"bvar" ?name (Atomic.make Waiters.empty)

(* --- Steps ---------------------------------------------------------------- *)

(* The result is [true] if a task was woken. *)
let signal_step v waiters : _ Step.t =
  if Waiters.is_empty waiters then Return (waiters, false)
  else Step.to_first waiters (Ok v) (Waiters.tail waiters) true

let broadcast_step outcome waiters : _ Step.t =
  if Waiters.is_empty waiters then Return (waiters, ())
  else Become (Waiters.empty, Step.resume_all waiters outcome Step.finished)

let wait_step () (_ : _ Waiters.t) = Step.Wait

(* --- The waiters ---------------------------------------------------------- *)

let queue change w waiters = change waiters w

(* A broadcast has woken all others, so its value reaches at most a task that has come since. *)
let pass_on t () v =
  ignore (Step.surely t signal_step v : bool);
  true

let waiting =
  {
    Operation.default with
    name = "Bvar.wait";
    undo = pass_on;
    how =
      By_steps { word = Fun.id; step = wait_step; queue; left = Step.finished };
  }

(* --- Operations ----------------------------------------------------------- *)

let signal t v = Step.perform t signal_step v
let broadcast t v = Step.perform t broadcast_step (Ok v)
let broadcast_exn t e = Step.perform t broadcast_step (Error e)
let wait t = Operation.wait waiting t ()
let wait_evt t = Event.make_by Last waiting t ()
let waiters t = Waiters.length (Atomic.get t)
