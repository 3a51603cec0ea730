open Task_types
open Task
open Ready
open Duties
open Effect.Deep

(* --- Tasks ---------------------------------------------------------------- *)

(* Called on the task's own stack. It records how the task has ended. Unbroken. *)
let begin_ s =
  match Array.unsafe_get s.waits s.current with
  | Start f -> (
      Array.unsafe_set s.waits s.current Nowhere;
      match f () with
      | () ->
          Array.unsafe_set s.waits s.current Ended;
          s
      | exception exn ->
          let backtrace = Printexc.get_raw_backtrace () in
          Array.unsafe_set s.waits s.current (Raised { exn; backtrace });
          s)
  | _ -> assert false (* the interface requires [Start] *)

(* Restores the host's context of the task that [pop] returns next. This calls unknown code, so
   it comes before [pop]. Only the loop takes tasks out of the
   ring, so the next task stays the next. *)
let[@inline never] prepare_context s =
  if s.first_ready < s.next_free then
    s.contexts.(s.ring.(s.first_ready land s.mask)) ();
  true

let[@inline] is_next_prepared s =
  (s.first_ready < s.poll_at || periodic s)
  && (Option.is_none s.context || prepare_context s)

(* There is no polling point between [pop] and the task. *)
let dispatch s =
  if Atomic.get s.inbox != Nothing then empty_inbox s;
  let number =
    if is_next_prepared s then pop s
    else (* leave the loop as if no task were ready *) -1
  in
  if number >= 0 then
    match Array.unsafe_get s.waits number with
    | Turn continuation ->
        continue continuation (Array.unsafe_get s.tasks number)
    | Wait { decision; continuation } -> (
        match Decision.outcome decision with
        | Ok v ->
            (* From here on, [waits] must not keep the value alive. *)
            if not (Identity.is_immediate v) then
              Array.unsafe_set s.waits number Nowhere;
            continue continuation v
        | Error e ->
            Array.unsafe_set s.waits number Nowhere;
            discontinue continuation e)
    | Parent { continuation; child } ->
        Array.unsafe_set s.waits number Nowhere;
        continue continuation child
    | Start _ -> s.start s
    | Nowhere | Answer _ | Failing _ | Ended | Raised _ | Guarded _ ->
        Guarded.go_on s number

(* If there is a current task, the loop continues it first. It was about to do so, because a
   foreign effect was answered, a task was forked, or an effect of the task raised. Otherwise
   the loop was interrupted just before it continued the task, or just after the task performed
   an effect. In bytecode the continuation may then be lost (see
   [Handler]). In that case the task at least ends. *)
let continue_current s =
  let number = s.current in
  if number >= 0 then (
    let wait = Guarded.of_task s number in
    s.waits.(number) <- wait;
    match
      match wait with
      | Answer { continuation; value } ->
          s.waits.(number) <- Nowhere;
          continue continuation value
      | Failing { continuation; exn; backtrace } ->
          discontinue_with_backtrace continuation exn backtrace
      | Turn continuation -> discontinue continuation s.interruption
      | Wait { continuation; _ } -> discontinue continuation s.interruption
      | Parent { continuation; _ } -> discontinue continuation s.interruption
      | Start _ -> s.start s
      | Ended -> Termination.returned s
      | Raised { exn; backtrace } -> Termination.raised s exn backtrace
      | Nowhere | Guarded _ -> raise_notrace Effect.Continuation_already_resumed
    with
    | () -> ()
    | exception Effect.Continuation_already_resumed
      when s.current = number && s.waits.(number) == wait ->
        Termination.raised s s.interruption s.interruption_backtrace)

(* --- Running -------------------------------------------------------------- *)

let rec work s =
  dispatch s;
  if has_members s.root && is_native s then begin
    if is_empty s then last_resort s;
    if (not (is_idle s)) || (s.poller.spins && Spinner.before_sleep s) then
      work s
  end

(* Before the first turn, there is nothing to unwind. *)
let has_started s = s.first_ready > 0

(* The call of [turns] is not the last thing, for the reason at [surely]. *)
let rec turns s =
  match
    continue_current s;
    if is_native s then work s;
    Sys.poll_actions ()
  with
  | () -> ()
  | exception e when has_started s ->
      note s e;
      turns s;
      ()

(* Runs until the loop must wait, is over, or a task has performed a foreign effect.

   If an exception comes in [Domain_local_await] itself, our entry stays in its table. Then a
   task that waits in this thread would take us for the innermost scheduler. So [turns] polls
   last, because pending signals are then handled there. *)
let enter s =
  let in_loop () =
    s.thread <- this_thread ();
    s.domain <- this_domain ();
    turns s
  in
  Backtrace.finally
    (fun () -> Registered.using s.host in_loop)
    ~finally:(fun () -> s.domain <- -1)

(* --- Sleeping ------------------------------------------------------------- *)

(* The states of [s.sleep]

   State       Left by   To          By whom
   Awake       block     Asleep r    the loop
   Asleep r    wake      Awake       any thread, after it has posted. It calls r
               block     Awake       the loop, which found something to do
               run,      Awake       the loop, in which its host raised
               sleep

   The loop announces that it sleeps before it checks for work the last time. A thread that
   posts reads [s.sleep] afterwards. So one of the two sees the other (H4). A handler in the
   loop's thread posts as other threads do once the loop was left. The loop
   sees everything that it did before. *)
let block s resumer =
  let asleep = Asleep resumer in
  Atomic.set s.sleep asleep;
  if is_idle s then None
  else if Atomic.compare_and_set s.sleep asleep Awake then Some ()
  else (* [wake] has the resumer, and calls it *) None

let suspend_protected s = Reach.protect (fun () -> Reach.suspend_loop (block s))

(* A host may raise again and again, although the task is protected. Such a host can't suspend
   its task (it is Eio, without its plug-in), so the thread waits instead. *)
let sleep_cancelled s =
  try suspend_protected s with
  | Leaks.Never_resumed as e -> raise_notrace e
  | _ -> (
      try suspend_protected s with
      | Leaks.Never_resumed as e -> raise_notrace e
      | _ -> Park.suspend_thread (block s))

(* Suspends the task in which the loop runs, or polls. If a poller was interrupted, it
   continues to poll while the tasks unwind, because their results come only from there. *)
let rec wait s =
  if not (is_interrupted s) then Joins.sleep s s.poller.wait (block s)
  else if s.poller == no_poller then sleep_cancelled s
  else
    try s.poller.wait (block s) with
    | Leaks.Never_resumed as e -> raise_notrace e
    | _ -> wait s

(* The innermost of the waiting tasks. Other tasks wait for it, to end a scope or to join it.
   If several tasks are equally deep, it is the one with the highest number, which mostly was
   forked last. *)
let innermost_wait s =
  let depth number = (Members.home s.tasks.(number)).depth in
  let rec from number found =
    if number = s.used then found
    else
      match Guarded.of_task s number with
      | Wait { decision; _ }
        when Decision.is_undecided (Decision.outcome decision)
             && (found < 0 || depth number >= depth found) ->
          from (number + 1) number
      | _ -> from (number + 1) found
  in
  from 0 (-1)

let end_wait s number =
  match Guarded.of_task s number with
  | Wait { decision; continuation } ->
      if Ready.resume s.tasks.(number) decision (Error Leaks.Never_resumed) then
        Leaks.report_last (fun frames -> get_callstack continuation frames)
  | _ -> ()

(* The host reports that nothing can wake the loop. One task gets the exception, and unwinds or
   continues. Other tasks may have waited for just that. If some still wait afterwards, the
   next of them gets it when the loop sleeps the next time. *)
let sleep s =
  match wait s with
  | () -> ()
  | exception Leaks.Never_resumed ->
      Atomic.set s.sleep Awake;
      if is_idle s then begin
        let number = innermost_wait s in
        if number >= 0 then end_wait s number else Park.suspend_thread (block s)
      end

(* --- Foreign effects ------------------------------------------------------ *)

(* The task continues when the loop has been entered again. *)
let continue_next s task wait =
  s.waits.(task.number) <- wait;
  s.foreign <- Native;
  s.current <- task.number

let rec answer : type a. _ -> _ -> (a, unit) continuation -> a -> unit =
 fun s task continuation value ->
  match Answer { continuation; value } with
  | wait -> continue_next s task wait
  | exception e ->
      note s e;
      answer s task continuation value;
      ()

let rec answer_failing s task continuation exn backtrace =
  match Failing { continuation; exn; backtrace } with
  | wait -> continue_next s task wait
  | exception e ->
      note s e;
      answer_failing s task continuation exn backtrace;
      ()

(* --- All of it ------------------------------------------------------------ *)

let rec drive s =
  enter s;
  match s.foreign with
  | Foreign { task; effect_; continuation } ->
      (match Effect.perform effect_ with
      | v -> answer s task continuation v
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          answer_failing s task continuation e backtrace);
      drive s
  | Turn_of_host ->
      s.foreign <- Native;
      if not (is_interrupted s) then Asking.let_host_run ();
      drive s
  | Native ->
      if has_members s.root then begin
        sleep s;
        Turn.begin_ s.turn;
        drive s
      end

let rec run_to_end s =
  match drive s with
  | () -> ()
  | exception e when has_started s ->
      note s e;
      Atomic.set s.sleep Awake;
      run_to_end s;
      ()

let run s f =
  s.waits.(0) <- Start f;
  push s 0;
  run_to_end s;
  Members.release s;
  if is_interrupted s then
    Printexc.raise_with_backtrace s.interruption s.interruption_backtrace
