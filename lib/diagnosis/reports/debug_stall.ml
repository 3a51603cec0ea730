type progress = { begun : int; waiting : int list }

(* Tasks that were woken but don't continue count too, because their loop may stand still. *)
let progress () =
  let numbers = List.map (fun (w : Waits.t) -> w.number) in
  let waiting = numbers (Waits.all ()) @ numbers (Waits.resumed ()) in
  { begun = Waits.begun (); waiting = List.sort_uniq Int.compare waiting }

(* [progress] has not changed since [since]. A stall is reported once. *)
type state = { progress : progress; since : float; was_reported : bool }

(* A busy machine may hold up all tasks for so long. Even then the report is true. It says how
   long no task has continued, and whether anything could wake the tasks. *)
let start ~now ~progress = { progress; since = now; was_reported = false }

let step ~limit ~now ~progress state =
  if progress <> state.progress then (start ~now ~progress, false)
  else if
    (not (List.is_empty progress.waiting))
    && (not state.was_reported)
    && now -. state.since >= limit
  then ({ state with was_reported = true }, true)
  else (state, false)

(* --- Can anything wake them? ------------------------------------------------------ *)

let threads (waits : Waits.t list) =
  let is_thread (wait : Waits.t) = wait.who.host = "" in
  let add known (wait : Waits.t) =
    if List.exists (Who.same wait.who) known then known else wait.who :: known
  in
  List.length (List.fold_left add [] (List.filter is_thread waits))

(* The calling thread is left out by [Others], and is also one of the idle helpers. So it would
   be counted twice without [- 1]. *)
let can_wake () =
  let before = progress () in
  let asleep = threads (Waits.all ()) - 1 in
  Others.may_wake ~asleep || Others.handle_signals () || progress () <> before

(* --- Watching --------------------------------------------------------------------- *)

(* If a server has nothing to do, it is idle, but has not stalled. *)
let is_idle () =
  let is_outside (wait : Waits.t) =
    List.exists (fun (t : Target.t) -> t.from_outside) wait.targets
  in
  List.is_empty (Waits.resumed ()) && List.exists is_outside (Waits.all ())

let report seconds =
  let company =
    if not (List.is_empty (Waits.resumed ())) then
      "Some tasks were woken, but their schedulers have not continued them."
    else if can_wake () then
      "Another thread, a timeout or a signal may wake the waiting tasks."
    else
      "Nothing can wake the waiting tasks, because all threads wait, no timeout\n\
       is pending, and no signal is handled."
  in
  Debug_helpers.write
    (Printf.sprintf "concord: no task has continued for %.1f s.\n%s\n%s" seconds
       company
       (Debug_text.of_report (Debug_report.now ())))

let now () = Int64.to_float (Mtime_clock.now_ns ()) *. 1e-9

let check_stall ~limit state =
  let now = now () in
  let state, is_due = step ~limit ~now ~progress:(progress ()) state in
  if is_due && not (is_idle ()) then report (now -. state.since);
  state

(* --- Cycles ----------------------------------------------------------------------- *)

(* Cycles are searched for without a stall, because the rest of the program may be busy.
   [known] are the cycles that were reported and still exist, each as the numbers of its waits.
   A search takes time in proportion to the waits, so the pause after it is a hundred times as
   long. *)
type cycles = { known : int list list; next_at : float }

(* In a busy program, most of [took] is the time until the watching thread has its domain's
   lock. The search itself takes less than [per_wait] for each wait. *)
let per_wait = 0.000_02
let pause ~took ~waits = 100. *. Float.min took (per_wait *. float waits)

let numbers cycle =
  List.sort Int.compare
    (List.map (fun (wait : Debug_report.wait) -> wait.number) cycle)

let check_cycles { known; next_at } =
  let begun = now () in
  if begun < next_at then { known; next_at }
  else
    let report = Debug_report.now () in
    let found = List.map numbers report.cycles in
    if not (List.for_all (fun cycle -> List.mem cycle known) found) then
      Debug_helpers.write
        (Printf.sprintf
           "concord: tasks wait for each other in a cycle. None of them \
            continues, unless one is cancelled.\n\
            %s"
           (Debug_text.of_report report));
    let ended = now () and waits = List.length report.waits in
    { known = found; next_at = ended +. pause ~took:(ended -. begun) ~waits }

(* --- Both ------------------------------------------------------------------------- *)

let unless_impossible check state =
  try check state
  with e ->
    Debug_helpers.write
      (Printf.sprintf "concord: the report failed: %s\n" (Printexc.to_string e));
    state

let watch limit =
  let pause = Float.max 0.005 (Float.min 1. (limit /. 4.)) in
  let rec serve cycles state =
    Thread.delay pause;
    let cycles = unless_impossible check_cycles cycles in
    serve cycles (unless_impossible (check_stall ~limit) state)
  in
  Waits.keep ();
  Debug_helpers.start (fun () ->
      serve
        { known = []; next_at = 0. }
        (start ~now:(now ()) ~progress:(progress ())))
