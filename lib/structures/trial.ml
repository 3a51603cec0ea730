(* [t]

   State       Left by        To          By whom
   Open ws     pass         * Passed      the trial's task: enough have accepted
               doubt          Failing ws  a resumed task that does not wait any more
               over           Failed      the trial's task: too few have accepted
   Failing ws  over           Failed      the trial's task
   Passed, Failed             never (terminal)

   and tasks that look come to [ws], and withdraw. The task that makes a terminal state
   resumes them.

   * linearises the round: the arrival of the last task, and all that return. (If there are
   two, the acceptance of the first one does: [passed].) *)
type state =
  | Open of (unit, bool) Waiters.t
  | Failing of (unit, bool) Waiters.t
  | Passed
  | Failed

type t = state Atomic.t

let[@inline] is_passed trial = Atomic.get trial == Passed
let create () = Atomic.make (Open Waiters.empty)
let passed = Atomic.make Passed
let failed = Atomic.make Failed

(* --- Steps ---------------------------------------------------------------- *)

let end_with state ~has_passed spinners : _ Step.t =
  let next = Step.resume_all spinners (Ok has_passed) (Done has_passed) in
  Become (state, next)

let pass : _ -> _ Step.t = function
  | Open spinners -> end_with Passed ~has_passed:true spinners
  | (Failing _ | Failed) as state -> Return (state, false)
  | Passed -> Return (Passed, true)

let over : _ -> _ Step.t = function
  | Open spinners | Failing spinners ->
      end_with Failed ~has_passed:false spinners
  | Failed -> Return (Failed, false)
  | Passed -> Return (Passed, true)

let doubt : _ -> _ Step.t = function
  | Open spinners -> Return (Failing spinners, false)
  | (Failing _ | Failed) as state -> Return (state, false)
  | Passed -> Return (Passed, true)

let look_step () : _ -> _ Step.t = function
  | Open _ | Failing _ -> Wait
  | Failed -> Return (Failed, false)
  | Passed -> Return (Passed, true)

(* --- Looking -------------------------------------------------------------- *)

let queue change w = function
  | Open spinners -> Open (change spinners w)
  | Failing spinners -> Failing (change spinners w)
  | (Passed | Failed) as state -> state

let looking =
  {
    Operation.default with
    name = "Barrier.await";
    spin = Before;
    how =
      By_steps { word = Fun.id; step = look_step; queue; left = Step.finished };
  }

let doubt_step () state = doubt state

(* The tasks that were resumed look here. On another domain they may do so before all
   have been asked. *)
let has_passed trial =
  match Atomic.get trial with
  | Passed -> true
  | Failed -> false
  | Open _ | Failing _ -> (
      match Operation.wait looking trial () with
      | has_passed -> has_passed
      | exception e ->
          let backtrace = Backtrace.get () in
          if not (Step.surely trial doubt_step ()) then
            Printexc.raise_with_backtrace e backtrace;
          (* Its host knows that the task is cancelled. Otherwise a signal handler has raised
             too late, as in [Park]. *)
          if not (Suspend.is_cancelled ()) then Late.keep e backtrace;
          true)
