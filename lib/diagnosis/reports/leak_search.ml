(* --- The decision ------------------------------------------------------------- *)

type seen = { at : float; used : float; cycles : int }

(* [before] is of the step before. [searched] is of the end of the last collection, by
   whomever. Until [busy], the program had something to do. Collections take their time from
   [credit], in seconds. *)
type state = {
  before : seen;
  searched : seen;
  busy : float;
  fresh : bool;
  credit : float;
}

(* Collections take at most 2 % of the time. After a pause, the first ones come at once. *)
let share = 0.02
let most_credit = 0.1

let begin_at seen =
  {
    before = seen;
    searched = seen;
    busy = seen.at;
    fresh = true;
    credit = most_credit;
  }

let earn seen { before; credit; _ } =
  Float.min most_credit (credit +. (share *. (seen.at -. before.at)))

(* A program that takes so much of a processor has something else to do, and perhaps its next
   request comes soon. *)
let quiet_load = 0.25
let quiet_for = 0.1

let is_busy seen before =
  seen.used -. before.used > quiet_load *. (seen.at -. before.at)

(* But then it is not searched for longer than so many seconds. *)
let busy_pause = 10.

(* What takes less processor time has changed nothing. The searching thread takes some, too. *)
let least_work = 0.001

let has_changed seen state =
  state.fresh || seen.used -. state.searched.used > least_work

(* After so many cycles of its own, a busy program has been searched. *)
let enough_cycles = 2

let step ~fresh seen state =
  let busy = if is_busy seen state.before then seen.at else state.busy in
  let is_busy = seen.at -. busy < quiet_for in
  let state =
    {
      state with
      before = seen;
      busy;
      fresh = state.fresh || is_busy || fresh > 0;
      credit = earn seen state;
    }
  in
  if is_busy && seen.cycles - state.searched.cycles >= enough_cycles then
    (`Wait, { state with searched = seen })
  else if
    state.credit > 0.
    &&
    if is_busy then seen.at -. state.searched.at >= busy_pause
    else has_changed seen state
  then (`Collect, state)
  else (`Wait, state)

let collected seen state =
  let took = seen.at -. state.before.at in
  let credit = state.credit -. took in
  { state with before = seen; searched = seen; fresh = false; credit }

let pause state = if state.fresh then 0.02 else 0.1

(* --- The searching thread ------------------------------------------------------- *)

let now () =
  {
    at = Int64.to_float (Mtime_clock.now_ns ()) *. 1e-9;
    used = Sys.time ();
    cycles = (Gc.quick_stat ()).major_collections;
  }

let look state =
  let fresh = Leak_guards.watch () in
  match step ~fresh (now ()) state with
  | `Wait, state -> state
  | `Collect, state ->
      Leaks.collect ();
      collected (now ()) state

let rec serve state =
  Thread.delay (pause state);
  serve (try look state with _ -> state)

(* The child of a fork has no searching thread until a task waits there. *)
let served_in = Atomic.make 0

let start () =
  Atomic.set served_in (Unix.getpid ());
  Debug_helpers.start (fun () -> serve (begin_at (now ())))

let guard waits_at resumer =
  (if Atomic.get served_in <> Unix.getpid () then try start () with _ -> ());
  Leak_guards.guard waits_at resumer
