open Concord_suspend

(* [place], of one wait, beside the one decision of H3

   State      Left by  To          By whom
   Looking    sleep    Asleep r    the task, whose host gave it r
              resume   Resumed _   any thread, in one step with its decision
   Asleep r   resume   Resumed _   likewise; it then calls r
   Resumed _  never (terminal)

   The task looks at the decision, and before it sleeps at the place: who has decided
   finds it asleep, or it finds the place resumed. Debt: who takes r calls it; the host
   makes the task ready, which finds the decision. The host cancels the task only if it
   decides, by [cancel], and the place stays as it is. *)
type place = Looking | Asleep of unit resumer | Resumed of { here : bool }

let here = Resumed { here = true }
let elsewhere = Resumed { here = false }

type 'a wait = {
  domain : int;
  decision : 'a Decision.t;
  place : place Atomic.t;
  mutable in_block : bool;
}

type host = {
  check : unit -> unit;
  turn : (exn -> bool) -> unit;
  suspend : 'a. cancel:(exn -> bool) -> ('a resumer -> 'a option) -> 'a;
}

(* Decided and taken are two steps of one function without a polling point: a signal
   handler that raises would leave the task asleep between them. [resumed] if somebody
   else has decided. *)
let[@poll error] [@inline never] decide_and_take decision undecided outcome
    place resumed =
  if Atomic.compare_and_set decision undecided outcome then
    Atomic.exchange place resumed
  else resumed

let resume wait outcome =
  let resumed =
    if (Domain.self () :> int) = wait.domain then here else elsewhere
  and decision = (wait.decision : _ Decision.t :> _ Atomic.t) in
  match
    decide_and_take decision Decision.undecided outcome wait.place resumed
  with
  | Looking -> true
  | Asleep resumer ->
      Trigger.resume resumer;
      true
  | Resumed _ -> false

let cancel wait e = Decision.decide wait.decision (Error e)

let sleep wait resumer =
  if Atomic.compare_and_set wait.place Looking (Asleep resumer) then None
  else Some ()

let is_decided wait =
  not (Decision.is_undecided (Decision.outcome wait.decision))

(* A turn first: a task that is resumed at once lets others go on too. *)
let rec look wait host turns =
  host.turn (cancel wait);
  is_decided wait || (turns > 1 && look wait host (turns - 1))

(* Whoever decided and has not come to the place yet is another thread. *)
let by_another_domain wait = Atomic.get wait.place != here

(* Whether the task is to sleep. *)
let look_or_answer spin wait host turns block =
  host.check ();
  match block (resume wait) with
  | Some v ->
      ignore (Decision.decide wait.decision (Ok v) : bool);
      wait.in_block <- false;
      host.turn (cancel wait);
      Spin.leave_turns spin;
      false
  | None ->
      wait.in_block <- false;
      let decided = look wait host turns in
      Spin.end_turns spin ~gained:(decided && by_another_domain wait);
      not decided

(* Another task may look while this one sleeps: so nothing is owed to [spin] then. *)
let must_sleep spin wait host turns block =
  match look_or_answer spin wait host turns block with
  | must_sleep -> must_sleep
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Spin.leave_turns spin;
      Printexc.raise_with_backtrace e backtrace

let new_wait spin =
  match
    {
      domain = (Domain.self () :> int);
      decision = Decision.create ();
      place = Atomic.make Looking;
      in_block = true;
    }
  with
  | wait -> wait
  | exception e ->
      (* a signal handler's *)
      let backtrace = Printexc.get_raw_backtrace () in
      Spin.leave_turns spin;
      Printexc.raise_with_backtrace e backtrace

let value = function Ok v -> v | Error e -> raise e

(* An exception is that of [block], the host's cancellation, which has decided, or that
   of a signal handler. A [block] that resumes the task itself and raises does so against
   S1, and is told nothing: as in [Park]. *)
let suspend_looking spin host turns block =
  let wait = new_wait spin in
  match
    if must_sleep spin wait host turns block then
      Spin.sleeping spin (fun () ->
          host.suspend ~cancel:(cancel wait) (sleep wait))
  with
  | () -> value (Decision.outcome wait.decision)
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      if Decision.decide wait.decision (Error e) then
        Printexc.raise_with_backtrace e backtrace
      else
        match Decision.outcome wait.decision with
        | Error cancelled when cancelled == e ->
            Printexc.raise_with_backtrace e backtrace
        | outcome ->
            if not (wait.in_block && Atomic.get wait.place == here) then
              Park.keep e backtrace;
            value outcome)

let at_once (_ : exn) = true

let begin_turns spin =
  Park.raise_kept ();
  Spin.begin_turns spin

let suspend spin host block =
  match begin_turns spin with
  | 0 -> Spin.sleeping spin (fun () -> host.suspend ~cancel:at_once block)
  | turns -> suspend_looking spin host turns block
