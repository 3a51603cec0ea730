open Concord_suspend

(* The states of [state] of one wait, which is the one decision of H3

   State       Left by  To         By whom
   Spinning    sleep    Asleep r   the task, whose host gave it r
               decide   Decided _  any thread, with an outcome
   Asleep r    decide   Decided _  any thread, and a resumer then calls r
   Decided _   never (terminal)

   The task spins for a while. If it is not Decided by then, it sleeps. Debt: if a resumer
   decides a wait that is Asleep, it calls r. The host then makes the task ready, and the task
   finds the outcome. A cancellation doesn't call r, because the host cancels the task only if
   [cancel] decides. *)
type 'a state =
  | Spinning
  | Asleep of unit resumer
  | Decided of { outcome : ('a, exn) result; here : bool }
      (** [here] is [true] if a thread of the task's domain decided. *)

type 'a wait = {
  domain : int;
  state : 'a state Atomic.t;
  mutable in_block : bool;
}

type host = {
  check : unit -> unit;
  turn : (exn -> bool) -> unit;
  suspend : 'a. cancel:(exn -> bool) -> ('a resumer -> 'a option) -> 'a;
}

let rec resume wait outcome =
  match Atomic.get wait.state with
  | Decided _ -> false
  | (Spinning | Asleep _) as before ->
      let here = (Domain.self () :> int) = wait.domain in
      let after = Decided { outcome; here } in
      if not (Atomic.compare_and_set wait.state before after) then
        (* the task fell asleep, or another thread has decided *)
        resume wait outcome
      else begin
        (match before with
        | Asleep resumer -> Trigger.resume resumer
        | Spinning | Decided _ -> ());
        true
      end

(* Called by the task or by its host. *)
let rec decide wait outcome =
  match Atomic.get wait.state with
  | Decided _ -> false
  | (Spinning | Asleep _) as before ->
      Atomic.compare_and_set wait.state before
        (Decided { outcome; here = true })
      ||
      (* a resumer has decided, or the task has just fallen asleep *)
      decide wait outcome

let cancel wait e = decide wait (Error e)

let sleep wait resumer =
  if Atomic.compare_and_set wait.state Spinning (Asleep resumer) then None
  else Some ()

let[@inline] is_decided wait =
  match Atomic.get wait.state with
  | Decided _ -> true
  | Spinning | Asleep _ -> false

(* The first turn comes before the check, because a task that is resumed at once has to let
   other tasks run too. *)
let rec take_turns wait host cancel turns =
  host.turn cancel;
  is_decided wait || (turns > 1 && take_turns wait host cancel (turns - 1))

let by_another_domain wait =
  match Atomic.get wait.state with
  | Decided { here; _ } -> not here
  | Spinning | Asleep _ -> false

(* The task has only let other tasks run, so nothing was learned about spinning. *)
let take_turn spin wait host =
  wait.in_block <- false;
  host.turn (cancel wait);
  Spin.leave_turns spin

(* Returns [true] if the task has to sleep. *)
let spin_or_answer spin wait host turns block =
  host.check ();
  match block (fun outcome -> resume wait outcome) with
  | Some v ->
      ignore (decide wait (Ok v) : bool);
      take_turn spin wait host;
      false
  | None when is_decided wait ->
      take_turn spin wait host;
      false
  | None ->
      wait.in_block <- false;
      let decided = take_turns wait host (cancel wait) turns in
      Spin.end_turns spin ~gained:(by_another_domain wait);
      not decided

(* While this task sleeps, another one may spin. So this task leaves [spin] first, even if an
   exception is raised. *)
let must_sleep spin wait host turns block =
  match spin_or_answer spin wait host turns block with
  | must_sleep -> must_sleep
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Spin.leave_turns spin;
      Printexc.raise_with_backtrace e backtrace

let new_wait spin =
  match
    {
      domain = (Domain.self () :> int);
      state = Atomic.make Spinning;
      in_block = true;
    }
  with
  | wait -> wait
  | exception e ->
      (* unbroken *)
      let backtrace = Printexc.get_raw_backtrace () in
      Spin.leave_turns spin;
      Printexc.raise_with_backtrace e backtrace

let value wait =
  match Atomic.get wait.state with
  | Decided { outcome = Ok v; _ } -> v
  | Decided { outcome = Error e; _ } -> raise e
  | Spinning | Asleep _ ->
      assert false (* the task continues only after the decision *)

(* The exception comes from [block], from the host, whose cancellation has decided, or from
   elsewhere. If [block] resumes the task itself and then raises, it breaks S1.
   Its exception is dropped, as in [Park]. *)
let suspend_spinning spin host turns block =
  let wait = new_wait spin in
  match
    if must_sleep spin wait host turns block then
      Spin.sleeping spin (fun () ->
          host.suspend ~cancel:(cancel wait) (sleep wait))
  with
  | () -> value wait
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      if decide wait (Error e) then Printexc.raise_with_backtrace e backtrace
      else
        match Atomic.get wait.state with
        | Decided { outcome = Error cancelled; _ } when cancelled == e ->
            Printexc.raise_with_backtrace e backtrace
        | Decided { here; _ } ->
            if not (wait.in_block && here) then Late.keep e backtrace;
            value wait
        | Spinning | Asleep _ ->
            assert false (* [decide] was [false], so the wait is decided *))

let at_once (_ : exn) = true

let begin_turns spin =
  Late.raise_kept ();
  Spin.begin_turns spin

let suspend spin host block =
  match begin_turns spin with
  | 0 -> Spin.sleeping spin (fun () -> host.suspend ~cancel:at_once block)
  | turns -> suspend_spinning spin host turns block
