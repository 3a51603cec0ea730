open Concord_suspend

(* [state], of one wait: the one decision of H3

   State       Left by  To         By whom
   Spinning    sleep    Asleep r   the task, whose host gave it r
               decide   Decided _  any thread, with an outcome
   Asleep r    decide   Decided _  any thread; a resumer then calls r
   Decided _   never (terminal)

   The task spins for a while, and sleeps if it is not Decided then. Debt: the resumer
   that decides a wait that is Asleep calls r; the host makes the task ready, which finds
   the outcome. A cancellation calls nothing: the host cancels the task only if [cancel]
   decides. *)
type 'a state =
  | Spinning
  | Asleep of unit resumer
  | Decided of { outcome : ('a, exn) result; here : bool }
      (** [here]: by a thread of the task's domain. *)

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
        (* it fell asleep, or somebody else has decided *)
        resume wait outcome
      else begin
        (match before with
        | Asleep resumer -> Trigger.resume resumer
        | Spinning | Decided _ -> ());
        true
      end

(* By the task, or by its host. *)
let rec decide wait outcome =
  match Atomic.get wait.state with
  | Decided _ -> false
  | (Spinning | Asleep _) as before ->
      Atomic.compare_and_set wait.state before
        (Decided { outcome; here = true })
      ||
      (* a resumer has decided; the task falls asleep by itself *)
      decide wait outcome

let cancel wait e = decide wait (Error e)

let sleep wait resumer =
  if Atomic.compare_and_set wait.state Spinning (Asleep resumer) then None
  else Some ()

let[@inline] is_decided wait =
  match Atomic.get wait.state with
  | Decided _ -> true
  | Spinning | Asleep _ -> false

(* A turn first: a task that is resumed at once lets others go on too. *)
let rec take_turns wait host cancel turns =
  host.turn cancel;
  is_decided wait || (turns > 1 && take_turns wait host cancel (turns - 1))

let by_another_domain wait =
  match Atomic.get wait.state with
  | Decided { here; _ } -> not here
  | Spinning | Asleep _ -> false

(* It has only let others have their turns, and has learned nothing. *)
let take_turn spin wait host =
  wait.in_block <- false;
  host.turn (cancel wait);
  Spin.leave_turns spin

(* Whether the task is to sleep. *)
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

(* Another task may spin while this one sleeps: so nothing is owed to [spin] then. *)
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
      (* a signal handler's *)
      let backtrace = Printexc.get_raw_backtrace () in
      Spin.leave_turns spin;
      Printexc.raise_with_backtrace e backtrace

let value wait =
  match Atomic.get wait.state with
  | Decided { outcome = Ok v; _ } -> v
  | Decided { outcome = Error e; _ } -> raise e
  | Spinning | Asleep _ -> assert false (* only what is decided goes on *)

(* An exception is that of [block], the host's cancellation, which has decided, or that
   of a signal handler. A [block] that resumes the task itself and raises does so against
   S1, and is told nothing: as in [Park]. *)
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
        | Spinning | Asleep _ -> assert false (* [decide] says so *))

let at_once (_ : exn) = true

let begin_turns spin =
  Late.raise_kept ();
  Spin.begin_turns spin

let suspend spin host block =
  match begin_turns spin with
  | 0 -> Spin.sleeping spin (fun () -> host.suspend ~cancel:at_once block)
  | turns -> suspend_spinning spin host turns block
