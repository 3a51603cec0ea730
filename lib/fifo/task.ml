open Task_types
module Numbers = Map.Make (Int)

type t = Task_types.t
type scope = Task_types.scope
type scheduler = Task_types.scheduler

exception Cancelled

(* These exceptions are not outcomes. They are recognised by their addresses, because a task
   may raise any exception. *)
exception Doomed
exception Answered
exception Spun_on

let spun_on = Error Spun_on
let doomed = Error Doomed
let answered = Error Answered
let cancelled = Error Cancelled

exception Uninterrupted

let uninterrupted = Uninterrupted

(* Without this limit, the timers' thread would have to wait until it runs in this domain. And
   as long as the loop is busy, lazily cancelled tasks would stay. *)
let turns_between_spins = 256

let no_poller =
  {
    wait = Reach.suspend_loop;
    poll = ignore;
    every = turns_between_spins;
    spins = true;
  }

(* The outermost scope and the first task refer to each other, and to the scheduler. *)
let scheduler ~is_lazy =
  let context = Context.here () in
  let contexts =
    match context with Some save -> [| save () |] | None -> [||]
  in
  let inbox = Atomic.make Nothing
  and sleep = Atomic.make Awake
  and ring = Array.make 16 0
  and free = Array.make 1 0
  and waits = Array.make 1 Nowhere
  and ended = Promise.create ()
  and host = Registered.create ()
  and spin = Spin.create ()
  and known = Who_is.tasks ()
  and interruption_backtrace = Printexc.get_callstack 0 in
  let rec scheduler =
    {
      root;
      start = ignore;
      scopes = { scope = (fun _ -> assert false (* [run] sets it *)) };
      is_watched =
        Observer.finds_leaks () || Forks.are_observed ()
        || Option.is_some context;
      context;
      tasks = [||];
      waits;
      locals = [||];
      place = Locals.nowhere;
      contexts;
      forks = 0;
      used = 1;
      free;
      n_free = 0;
      current = -1;
      domain = -1;
      thread = -1;
      ring;
      mask = Array.length ring - 1;
      first_ready = 0;
      next_free = 0;
      inbox;
      taken = Nothing;
      due = Nothing;
      sleep;
      is_lazy;
      turn = Turn.create ();
      polled_at = 0;
      doomed = [];
      unwinding = [];
      failed = [];
      last = -1;
      spins_on = -1;
      poll_at = 0;
      interruption = uninterrupted;
      interruption_backtrace;
      first_failure = None;
      host;
      spin;
      known;
      origins = Numbers.empty;
      foreign = Native;
      poller = no_poller;
    }
  and root =
    {
      scheduler;
      parent = root;
      owner = first_task;
      depth = 0;
      stopped = false;
      first = 0;
      last = 0;
      live = 1;
      on_empty = None;
      failures = [];
      has_failed = false;
    }
  and first_task =
    { ended; number = 0; scope = root; marks = 0; previous = -1; next = -1 }
  in
  scheduler.tasks <- [| first_task |];
  scheduler

let[@inline] current s = Array.unsafe_get s.tasks s.current

(* --- Exceptions of signal handlers ---------------------------------------- *)

let note s e =
  s.interruption_backtrace <- Backtrace.get ();
  s.interruption <- e;
  s.poll_at <- min_int

let turns_of_a_failure = 256
let forks_of_a_turn = 256
let age s = (forks_of_a_turn * (s.first_ready - s.forks)) + s.forks

let is_old s { since; _ } =
  age s - since >= forks_of_a_turn * turns_of_a_failure

let is_interrupted s = s.interruption != uninterrupted

(* --- Tasks ---------------------------------------------------------------- *)

(* [marks] is eight times the number of shields, plus 1 if the task was cancelled, plus 2 if it
   is a daemon, plus 4 if it has ended and was observed. Only the last mark is set by other
   threads, and by then nothing else sets a mark. *)
let[@inline] shields task = task.marks asr 3
let shield task = task.marks <- task.marks + 8
let unshield task = task.marks <- task.marks - 8
let[@inline] was_cancelled task = task.marks land 1 = 1
let mark_cancelled task = task.marks <- task.marks lor 1
let is_daemon task = task.marks land 2 <> 0
let mark_observed task = task.marks <- task.marks lor 4
let is_observed task = task.marks land 4 <> 0

let[@poll error] [@inline never] become_daemon task =
  let home = task.scope in
  task.marks <- task.marks lor 2;
  home.live <- home.live - 1

let[@inline] has_members scope = scope.first >= 0

(* --- Bindings -------------------------------------------------------------- *)

let[@inline] has_locals s = Array.length s.locals > 0

let locals task =
  let s = task.scope.scheduler in
  if has_locals s then s.locals.(task.number) else Bindings.none

let set_locals task locals =
  let s = task.scope.scheduler in
  if not (has_locals s) then
    s.locals <- Array.make (Array.length s.tasks) Bindings.none;
  s.locals.(task.number) <- locals

let within s bindings f =
  let task = current s in
  let before = locals task in
  let bound () =
    set_locals task bindings;
    f ()
  in
  Backtrace.finally bound ~finally:(fun () -> set_locals task before)

let slot s =
  {
    Locals.read =
      (fun () ->
        if s.current >= 0 then Some (locals (current s))
        else raise_notrace Locals.Elsewhere);
    within = (fun bindings f -> within s bindings f);
    kept = None;
  }

let[@inline] inherit_locals s parent child =
  if has_locals s then s.locals.(child.number) <- s.locals.(parent.number)

(* --- Scopes --------------------------------------------------------------- *)

let[@inline] depth_in task scope =
  if scope.owner == task then scope.depth else 0

let enter_scope task =
  let parent = task.scope in
  let depth = shields task in
  let scope =
    {
      scheduler = parent.scheduler;
      parent;
      owner = task;
      depth;
      stopped = parent.stopped && depth = depth_in task parent;
      first = -1;
      last = -1;
      live = 0;
      on_empty = None;
      failures = [];
      has_failed = false;
    }
  in
  task.scope <- scope;
  scope

let leave_scope task = task.scope <- task.scope.parent

let[@inline never] is_unprotected task =
  let shields = shields task in
  (was_cancelled task && shields = 0)
  || (task.scope.stopped && shields = depth_in task task.scope)

let[@inline] is_cancelled task =
  (was_cancelled task || task.scope.stopped) && is_unprotected task
