(* The interface explains the fields.

   Each switch between tasks goes through the scheduler's arrays, with [unsafe_get] and
   [unsafe_set]: here, in [Ready], in [Loop] and in [Fifo]. No index is out of bounds:

   - The number of a task is less than the length of [tasks], and of [waits], which is
     the same: [free_number] makes both longer before it gives out a number, and
     neither gets shorter before [release], when no task is left. [current], the
     members of scopes, and what is in [free] and [ring] are such numbers, or -1, which
     is compared before.
   - [n_free] is less than the length of [free]: [remove_member] sees to that.
   - A position in [ring] is taken modulo its length, by [mask]. [ring] and [mask]
     change in one step, as threads of one domain see it. *)
type t = {
  number : int;
  mutable scope : scope;
  mutable marks : int;
  ended : unit Promise.t;
  mutable previous : int;
  mutable next : int;
}

and wait =
  | Nowhere
  | Wait : {
      continuation : ('a, unit) Effect.Deep.continuation;
      decision : 'a Decision.t;
    }
      -> wait
  | Turn of (t, unit) Effect.Deep.continuation
  | Parent of { continuation : (t, unit) Effect.Deep.continuation; child : t }
  | Start of (unit -> unit)
  | Answer : {
      continuation : ('a, unit) Effect.Deep.continuation;
      value : 'a;
    }
      -> wait
  | Failing : {
      continuation : ('a, unit) Effect.Deep.continuation;
      exn : exn;
      backtrace : Printexc.raw_backtrace;
    }
      -> wait
  | Guarded of guarded

and guarded = { weak : wait Weak.t; strong : wait Atomic.t }
and 'a decision = ('a, exn) result

and scope = {
  scheduler : scheduler;
  parent : scope;
  owner : t;
  depth : int;
  mutable stopped : bool;
  mutable first : int;
  mutable last : int;
  mutable live : int;
  mutable on_empty : unit Suspend.resumer option;
  mutable failures : failure list;
  mutable has_failed : bool;
}

and failure = { task : t; exn : exn; backtrace : Printexc.raw_backtrace }

and scheduler = {
  root : scope;
  mutable handler : Fiber.handler;
  mutable tasks : t array;
  mutable waits : wait array;
  mutable locals : Local.t array;
  mutable used : int;
  mutable free : int array;
  mutable n_free : int;
  mutable current : int;
  mutable domain : int;
  mutable thread : int;
  mutable ring : int array;
  mutable mask : int;
  mutable first_ready : int;
  mutable next_free : int;
  inbox : inbox Atomic.t;
  mutable taken : inbox;
  mutable due : inbox;
  sleep : sleep Atomic.t;
  is_lazy : bool;
  mutable guest_until : int;
  mutable doomed : doomed_wait list;
  mutable unwinding : doomed_wait list;
  mutable failed : scope list;
  mutable look_at : int;
  mutable interruption : exn;
  mutable interruption_backtrace : Printexc.raw_backtrace;
  mutable first_failure : failure option;
  host : Host_kit.t;
  spin : Spin.t;
  mutable foreign : foreign;
  mutable poller : poller;
}

and poller = {
  wait : (unit Suspend.resumer -> unit option) -> unit;
  look : unit -> unit;
  every : int;
  spins : bool;
}

and foreign =
  | Native
  | Foreign : {
      task : t;
      effect_ : 'a Effect.t;
      continuation : ('a, unit) Effect.Deep.continuation;
    }
      -> foreign
  | Turn_of_host

and inbox =
  | Nothing
  | Wake of t * inbox
  | Cancel of t * inbox
  | Stop of scope * inbox

and doomed_wait =
  | Doomed_wait : { task : t; decision : 'a Decision.t } -> doomed_wait

and sleep = Awake | Asleep of unit Suspend.resumer

exception Cancelled

(* These two are no outcomes. They are recognised by their addresses, as a task may
   raise anything. *)
exception Doomed
exception Answered

let doomed = Error Doomed
let answered = Error Answered
let cancelled = Error Cancelled

exception Uninterrupted

let uninterrupted = Uninterrupted

(* Until the scheduler has its own. *)
let no_handler =
  Fiber.
    {
      returned = ignore;
      raised = raise;
      handles = (fun _ -> false);
      performed = reperform;
    }

(* The timers' thread would have to wait for its turn in this domain; and what was
   cancelled lazily must not stay for as long as the loop is busy. *)
let turns_between_looks = 256

let no_poller =
  {
    wait = Reach.suspend_loop;
    look = ignore;
    every = turns_between_looks;
    spins = true;
  }

(* The outermost scope and the first task refer to one another, and to the
   scheduler. *)
let scheduler ~is_lazy =
  let inbox = Atomic.make Nothing
  and sleep = Atomic.make Awake
  and ring = Array.make 16 0
  and free = Array.make 1 0
  and waits = Array.make 1 Nowhere
  and ended = Promise.create ()
  and host = Host_kit.create ()
  and spin = Spin.create ()
  and interruption_backtrace = Printexc.get_callstack 0 in
  let rec scheduler =
    {
      root;
      handler = no_handler;
      tasks = [||];
      waits;
      locals = [||];
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
      guest_until = max_int;
      doomed = [];
      unwinding = [];
      failed = [];
      look_at = 0;
      interruption = uninterrupted;
      interruption_backtrace;
      first_failure = None;
      host;
      spin;
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
    { number = 0; scope = root; marks = 0; ended; previous = -1; next = -1 }
  in
  scheduler.tasks <- [| first_task |];
  scheduler

let[@inline] current s = Array.unsafe_get s.tasks s.current

(* --- Exceptions of signal handlers ---------------------------------------- *)

let note s e =
  s.interruption_backtrace <- Printexc.get_raw_backtrace ();
  s.interruption <- e;
  s.look_at <- min_int

let is_interrupted s = s.interruption != uninterrupted

(* --- Tasks ---------------------------------------------------------------- *)

let[@inline] has_locals s = Array.length s.locals > 0
let larger size = size + Int.max 16 size

let[@inline never] grow_tasks s =
  let size = Array.length s.tasks in
  let more = larger size - size in
  let tasks = Array.append s.tasks (Array.make more s.root.owner)
  and waits = Array.append s.waits (Array.make more Nowhere)
  and locals =
    if has_locals s then Array.append s.locals (Array.make more Local.none)
    else s.locals
  in
  s.locals <- locals;
  s.tasks <- tasks;
  s.waits <- waits

(* The number is not taken yet. *)
let free_number s =
  if s.n_free > 0 then s.free.(s.n_free - 1)
  else begin
    if s.used = Array.length s.tasks then grow_tasks s;
    s.used
  end

let prepare home =
  let number = free_number home.scheduler in
  let ended = Promise.create () in
  { number; scope = home; marks = 0; ended; previous = -1; next = -1 }

let[@poll error] [@inline never] add_member s task =
  let number = task.number and home = task.scope in
  if s.n_free > 0 then s.n_free <- s.n_free - 1 else s.used <- s.used + 1;
  Array.unsafe_set s.tasks number task;
  task.previous <- home.last;
  if home.last = -1 then home.first <- number
  else (Array.unsafe_get s.tasks home.last).next <- number;
  home.last <- number;
  home.live <- home.live + 1;
  s.current <- number

let rec outwards task scope =
  if scope.owner == task && scope != scope.parent then
    outwards task scope.parent
  else scope

let home task = outwards task task.scope

let[@inline never] grow_free s =
  let size = Array.length s.free in
  s.free <- Array.append s.free (Array.make (larger size - size) 0)

let[@poll error] [@inline never] unlink s task home =
  let { number; previous; next; _ } = task in
  if previous = -1 then home.first <- next
  else (Array.unsafe_get s.tasks previous).next <- next;
  if next = -1 then home.last <- previous
  else (Array.unsafe_get s.tasks next).previous <- previous;
  home.live <- home.live - 1 + ((task.marks lsr 1) land 1);
  Array.unsafe_set s.tasks number s.root.owner;
  Array.unsafe_set s.waits number Nowhere;
  if has_locals s then Array.unsafe_set s.locals number Local.none;
  Array.unsafe_set s.free s.n_free number;
  s.n_free <- s.n_free + 1;
  s.current <- -1

let remove_member task home =
  let s = home.scheduler in
  if s.n_free = Array.length s.free then grow_free s;
  unlink s task home

let release s =
  s.tasks <- [||];
  s.waits <- [||];
  s.locals <- [||];
  s.free <- [||];
  s.ring <- [||]

let iter_members f scope =
  let s = scope.scheduler in
  let rec from number =
    if number <> -1 then begin
      let task = s.tasks.(number) in
      f task;
      from task.next
    end
  in
  from scope.first

(* [marks] is eight times the number of shields, plus one if the task was cancelled, two
   if it is a daemon, four if it has ended and was observed. The latter is the only mark
   that other threads set, and then nobody sets another one. *)
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

(* The owner of the outermost scope is a member of it. *)
let is_over scope =
  scope.live = 0 && (scope == scope.parent || Option.is_some scope.on_empty)

(* --- Bindings -------------------------------------------------------------- *)

let locals task =
  let s = task.scope.scheduler in
  if has_locals s then s.locals.(task.number) else Local.none

let set_locals task locals =
  let s = task.scope.scheduler in
  if not (has_locals s) then
    s.locals <- Array.make (Array.length s.tasks) Local.none;
  s.locals.(task.number) <- locals

let[@inline] inherit_locals s parent child =
  if has_locals s then s.locals.(child.number) <- s.locals.(parent.number)

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
