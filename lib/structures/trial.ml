(* One attempt of a barrier to let its waiters through. The task that makes the trial resumes
   the waiters one by one, and any of them may refuse. So a resumed task waits here until it is
   known whether enough have accepted.

   [t], the only Atomic here

   State       Left by        To          By whom
   Open ws     pass         * Passed      the task that makes the trial, if enough
                                          have accepted
               doubt          Failing ws  a resumed task that no longer waits
               over           Failed      the task that makes the trial, if too few
                                          have accepted
   Failing ws  over           Failed      the task that makes the trial
   Passed, Failed             never (terminal)

   In addition, resumed tasks that wait for the outcome enter [ws], and withdraw. The task that
   makes the trial resumes all of [ws] when it reaches a terminal state.

   * linearises the round, which is the arrival of the last task and the return of all of them.
   (In a barrier of two parties there is no such change. The acceptance of the first one
   linearises the round, and its trial is the constant [passed].) *)
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

(* --- Waiting for the outcome ---------------------------------------------- *)

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

(* A resumed task calls this. On another domain it may do so before all waiters have been
   resumed. *)
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
          (* The task was interrupted, but the round has passed, so it must return normally. If
             its host has cancelled it, the host raises again in its next wait. Otherwise a
             signal handler has raised too late, and the exception is kept for the next wait
             ([Late]). *)
          if not (Suspend.is_cancelled ()) then Late.keep e backtrace;
          true)
