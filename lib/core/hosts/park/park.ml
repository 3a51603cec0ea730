(* The states of [trigger], which each wait has in addition to the one decision of H3

   Left by  To  By whom
   rearm    t'  the waiting task, if [t] woke it without a resumption, or before it
                sleeps for the first time

   A resumer decides first, and then releases the trigger that it reads. The task replaces the
   trigger first, and then reads the decision. So either the resumer releases the new trigger,
   or the task sees the decision and doesn't await the trigger. Debt: a resumer that has
   decided then releases the trigger, unbroken. *)
type 'a wait = {
  decision : 'a Decision.t;
  trigger : Domain_local_await.t Atomic.t;
  thread : Thread.t;
  domain : int;
  (* Only threads of the waiting thread's domain write these fields, so they hold its lock. *)
  mutable in_block : bool;
  mutable by_itself : bool;  (** [true] if [block] resumed its own task. *)
  mutable by_sibling : bool;
      (** [true] if a thread of the same domain has resumed the task, or has
          tried to. *)
}

(* The release of a scheduler's trigger may need a lock. If this is a signal handler, the
   thread that it interrupted may have that lock. Then [Sys_error] is raised, and another
   thread releases the trigger. Any other exception is a signal handler's, and may have come
   before the release. So the trigger is released again, because a second release is harmless.
   After 16 exceptions the cause is the trigger itself, not a signal. *)
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
  if (Domain.self () :> int) = wait.domain then wait.by_sibling <- true;
  Decision.decide wait.decision outcome
  && begin
    if Thread.self () == wait.thread && wait.in_block then
      wait.by_itself <- true;
    release (Atomic.get wait.trigger);
    true
  end

(* The waiting task doesn't wait, because [block] returned a value or raised, or because the
   wait raised. *)
exception Given_up

let given_up = Error Given_up
let value = function Ok v -> v | Error e -> raise e

(* The outcome for a task whose wait raised. It is [given_up], unless the task was resumed
   before. *)
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

let is_decided wait () =
  not (Decision.is_undecided (Decision.outcome wait.decision))

let rec await wait (trigger : Domain_local_await.t) =
  match trigger.await () with
  | () -> look wait Domain_local_await.prepare_for_await
  | exception Effect.Unhandled _ -> look wait thread_trigger

(* The task was woken, but perhaps not by a resumption, because the contract of [await] allows
   that. *)
and look wait prepare =
  let outcome = Decision.outcome wait.decision in
  if Decision.is_undecided outcome then rearm wait prepare else outcome

and rearm wait prepare =
  let trigger = prepare () in
  Atomic.set wait.trigger trigger;
  if Decision.is_undecided (Decision.outcome wait.decision) then begin
    if Observer.finds_leaks () then Leaks.forget_exception ();
    await wait trigger
  end
  else look wait prepare

(* The value of [block], unless the task was resumed. Unbroken after [block] returns, because
   the value that it has taken would be lost. *)
let wait_until wait sleep block =
  match block (fun outcome -> resume wait outcome) with
  | None ->
      wait.in_block <- false;
      ignore (sleep wait : (_, exn) result);
      None
  | Some _ as given ->
      if Decision.decide wait.decision given_up then given else None

(* The exception comes from [block], from the host's cancellation, or from elsewhere. Unbroken
   before [give_up], because the outcome of the wait would be lost.

   Once [block] has registered its resumer, it must not raise (S1). If it calls the resumer
   itself and then raises, it breaks S1, and its exception is dropped. *)
let suspend_until trigger sleep block ~too_late =
  let wait =
    {
      decision = Decision.create ();
      trigger = Atomic.make trigger;
      thread = Thread.self ();
      domain = (Domain.self () :> int);
      in_block = true;
      by_itself = false;
      by_sibling = false;
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

let spins_of_tasks = Domain.DLS.new_key Spin.create

let spin_then_await trigger wait =
  if Spin.at_once (Domain.DLS.get spins_of_tasks) (is_decided wait) then
    Decision.outcome wait.decision
  else await wait trigger

let suspend trigger block =
  (* Drop the exception, because the host knows that it has cancelled the task. *)
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

(* While a thread spins, it only checks its decision, which exists in any case. It makes a
   trigger only before it sleeps. So a resumer that comes earlier has nothing else to write. *)
let looks = Domain_local_await.{ release = ignore; await = ignore }
let spins = Domain.DLS.new_key Spin.create

(* Only another domain makes spinning worthwhile. If a thread of this domain resumes the
   caller, that thread runs in turns with the caller, and would do so sooner if the caller
   slept. (If [block] resumed its own task, no time was lost.) *)
let spin_then_sleep prepare wait =
  let is_gain () = wait.by_itself || not wait.by_sibling in
  if Spin.until_resumed ~is_gain (Domain.DLS.get spins) (is_decided wait) then
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
          "Concord.Tools.Suspend.In_handler: an operation has to wait in a \
           signal handler, a finaliser or a callback from C, but this code \
           runs in a scheduler's loop, so nothing could resume it. Let the \
           handler fill a promise or put into a mailbox, and let a task wait \
           for that"
    | _ -> None)
