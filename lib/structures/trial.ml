(* [t]

   State    Left by            To       By whom
   Open     enough accepted  * Passed   the trial's task
            too few accepted   Failing  the trial's task
            a look, cancelled  Failing  a task that was resumed, and is cancelled while
                                        it waits for the outcome
            a look             Looked   a task that was resumed, which then waits
   Looked   enough accepted  * Passed   as above
            too few accepted, or a look, cancelled
                               Doubted  as above
   Failing  a look             Doubted  a task that was resumed, which then waits
            the end            Failed   the trial's task
   Doubted  the end            Failed   the trial's task
   Passed, Failed  never (terminal)

   * linearises the round: the arrival of the last task, and all that return. (If one
   task alone is to be asked, its acceptance does: [passed].)
   The trial's task is the one that makes the trial. Debt: it ends the trial in the
   barrier's [state], and only then makes it Failed, so that no task is back too early.
   The task that replaces Looked or Doubted by a terminal state fills its promise, for
   which all wait that look meanwhile. *)
type state =
  | Open
  | Looked of unit Promise.t
  | Passed
  | Failing
  | Doubted of unit Promise.t
  | Failed

type t = state Atomic.t

let create () = Atomic.make Open
let passed = Atomic.make Passed

(* Whatever a resumer or a signal handler raises. *)
let rec fill promise =
  try ignore (Promise.try_fill promise () : bool)
  with e ->
    if not (Promise.is_resolved promise) then fill promise;
    raise e

let rec pass trial =
  match Atomic.get trial with
  | Passed -> true
  | Open -> Atomic.compare_and_set trial Open Passed || pass trial
  | Looked promise as looked ->
      if Atomic.compare_and_set trial looked Passed then begin
        fill promise;
        true
      end
      else (* failed *) pass trial
  | Failing | Doubted _ -> false
  | Failed -> assert false (* only the trial's task makes it so *)

let rec fail trial =
  match Atomic.get trial with
  | Open -> if not (Atomic.compare_and_set trial Open Failing) then fail trial
  | Looked promise as looked ->
      if not (Atomic.compare_and_set trial looked (Doubted promise)) then
        fail trial
  | Failing | Doubted _ | Passed | Failed -> ()

(* After a trial that failed. *)
let over trial =
  match Atomic.exchange trial Failed with
  | Doubted promise -> fill promise
  | Failing -> ()
  | Open | Looked _ | Passed | Failed -> assert false (* it was failing *)

(* The tasks that were resumed look here. On another domain they may do so before all
   have been asked. *)
let rec has_passed trial =
  match Atomic.get trial with
  | Passed -> true
  | Failed -> false
  | Looked promise | Doubted promise -> await_end trial promise
  | Open -> look trial Open (fun promise -> Looked promise)
  | Failing -> look trial Failing (fun promise -> Doubted promise)

and look trial before after =
  let promise = Promise.create () in
  if Atomic.compare_and_set trial before (after promise) then
    await_end trial promise
  else (* another look, or it passed or failed *) has_passed trial

and await_end trial promise =
  match Promise.await promise with
  | () -> has_passed trial
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      fail trial;
      match Atomic.get trial with
      | Passed -> true
      | Open | Looked _ | Failing | Doubted _ | Failed ->
          Printexc.raise_with_backtrace e backtrace)
