(* [trigger], beside the one decision of H3

   Left by  To  By whom
   rearm    t'  the waiting task, after [t] woke it without a resumption, or after
                it has looked

   A resumer decides, and then releases the trigger that it reads. The task replaces
   the trigger, and then looks at the decision. So either the resumer releases the new
   trigger, or the task does not await it. Debt: a resumer that has decided releases the
   trigger after that. A signal handler may raise anywhere; the debt is paid before the
   exception goes on. *)
type 'a wait = {
  decision : 'a Decision.t;
  trigger : Domain_local_await.t Atomic.t;
  thread : Thread.t;
  (* Only the thread that waits touches these. *)
  mutable in_block : bool;
  mutable by_itself : bool;  (** Has it resumed itself there? *)
}

(* A scheduler's trigger may need a lock that the calling thread has, if this is a
   signal handler: then another thread releases it. Any other exception is that of a
   signal handler, and may have come too early; to release twice does no harm. So many
   signals do not come meanwhile: else it is the trigger that raises. *)
let rec release_within tries (trigger : Domain_local_await.t) =
  match trigger.release () with
  | () -> ()
  | exception Sys_error _ ->
      ignore (Thread.create trigger.release () : Thread.t)
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      if tries > 0 then release_within (tries - 1) trigger;
      Printexc.raise_with_backtrace e backtrace

let[@inline] release trigger = Sys.opaque_identity (release_within 16 trigger)

let resume wait outcome =
  Decision.decide wait.decision outcome
  && begin
    if Thread.self () == wait.thread && wait.in_block then
      wait.by_itself <- true;
    release (Atomic.get wait.trigger);
    true
  end

(* The waiting task has decided not to wait: [block] gave a value or raised, or the task
   was interrupted. *)
exception Given_up

let given_up = Error Given_up
let value = function Ok v -> v | Error e -> raise e

(* What the task goes on with if it is interrupted: that, unless it was resumed before. *)
let give_up wait =
  if Decision.decide wait.decision given_up then given_up
  else Decision.outcome wait.decision

(* The trigger of a thread in which no scheduler runs. *)
let thread_trigger () =
  let parker = Parker.create () in
  Domain_local_await.
    {
      release = (fun () -> Parker.release parker);
      await = (fun () -> Sleeper.while_asleep (fun () -> Parker.await parker));
    }

let rec await wait (trigger : Domain_local_await.t) =
  match trigger.await () with
  | () -> look wait Domain_local_await.prepare_for_await
  | exception Effect.Unhandled _ -> look wait thread_trigger

(* Woken, and possibly not by a resumption: the contract of [await] allows it. *)
and look wait prepare =
  let outcome = Decision.outcome wait.decision in
  if Decision.is_undecided outcome then rearm wait prepare else outcome

and rearm wait prepare =
  let trigger = prepare () in
  Atomic.set wait.trigger trigger;
  if Decision.is_undecided (Decision.outcome wait.decision) then
    await wait trigger
  else look wait prepare

(* What [block] gave, unless the task was resumed. Nothing is allocated after [block]: a
   signal handler that raises there would lose what it has taken. *)
let wait_until wait sleep block =
  match block (fun outcome -> resume wait outcome) with
  | None ->
      wait.in_block <- false;
      Leaks.before_sleep ();
      ignore (sleep wait : (_, exn) result);
      None
  | Some _ as given ->
      if Decision.decide wait.decision given_up then given else None

(* An exception is that of [block], the host's cancellation, or a signal handler's, which
   may come at any moment. Nothing is allocated before the task gives up: another handler
   would raise there, and the outcome of the wait be lost.

   A [block] that has registered its resumer raises nothing of its own (S1). One that calls
   the resumer itself and raises then does so against S1, and is told nothing. *)
let suspend_until trigger sleep block ~too_late =
  let wait =
    {
      decision = Decision.create ();
      trigger = Atomic.make trigger;
      thread = Thread.self ();
      in_block = true;
      by_itself = false;
    }
  in
  match wait_until wait sleep block with
  | Some v -> v
  | None -> value (Decision.outcome wait.decision)
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      match give_up wait with
      | Error Given_up -> Printexc.raise_with_backtrace e backtrace
      | resumed ->
          if not (wait.in_block && wait.by_itself) then too_late e backtrace;
          value resumed)

let is_decided wait () =
  not (Decision.is_undecided (Decision.outcome wait.decision))

let spins_of_tasks = Domain.DLS.new_key Spin.create

let spin_then_await trigger wait =
  if Spin.at_once (Domain.DLS.get spins_of_tasks) (is_decided wait) then
    Decision.outcome wait.decision
  else await wait trigger

let suspend trigger block =
  (* The host knows that it has cancelled the task. *)
  suspend_until trigger (spin_then_await trigger) block ~too_late:(fun _ _ ->
      ())

(* --- Parking a thread ------------------------------------------------------- *)

let protected_trigger () =
  let parker = Parker.create () in
  let rec await () =
    match Sleeper.while_asleep (fun () -> Parker.await parker) with
    | () -> ()
    | exception e ->
        Late.keep e (Printexc.get_raw_backtrace ());
        await ()
  in
  Domain_local_await.{ release = (fun () -> Parker.release parker); await }

(* A thread looks at its decision, which is there in any case, and makes a trigger only
   before it sleeps: whoever resumes it meanwhile has nothing else to write. *)
let looks = Domain_local_await.{ release = ignore; await = ignore }
let spins = Domain.DLS.new_key Spin.create

let spin_then_sleep prepare wait =
  if Spin.until (Domain.DLS.get spins) (is_decided wait) then
    Decision.outcome wait.decision
  else rearm wait prepare

let suspend_thread block =
  let prepare =
    if Late.is_protected () then protected_trigger
    else begin
      Late.raise_kept ();
      thread_trigger
    end
  in
  suspend_until looks (spin_then_sleep prepare) block ~too_late:Late.keep

(* --- In a loop, outside of its tasks ---------------------------------------- *)

exception In_handler

let () =
  Printexc.register_printer (function
    | In_handler ->
        Some
          "Concord.Tools.Suspend.In_handler: an operation has to wait, but was \
           called in a signal handler, a finaliser or a callback from C, which \
           runs in a scheduler's loop, and nothing is left that could resume \
           it; let the handler fill a promise or put into a mailbox, and a \
           task wait for that"
    | _ -> None)
