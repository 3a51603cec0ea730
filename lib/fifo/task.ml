(* The interface explains the fields. *)
type t = {
  home : scope;
  number : int;
  mutable scope : scope;
  mutable shields : int;
  mutable cancelled : bool;
  ended : unit Concord.Promise.t;
  mutable previous : int;
  mutable next : int;
}

and wait =
  | Nowhere
  | Wait : {
      continuation : ('a, unit) Effect.Deep.continuation;
      decision : 'a decision Atomic.t;
    }
      -> wait
  | Turn of (t, unit) Effect.Deep.continuation
  | Parent of { continuation : (t, unit) Effect.Deep.continuation; child : t }

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
  mutable on_empty : unit Concord.Suspend.resumer option;
  mutable failures : failure list;
}

and failure = {
  task : t;
  exn : exn;
  backtrace : Printexc.raw_backtrace;
  mutable told : bool;
}

and scheduler = {
  root : scope;
  mutable tasks : t array;
  mutable waits : wait array;
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
  sleep : sleep Atomic.t;
  is_lazy : bool;
  mutable doomed : (unit -> unit) list;
  mutable failed : scope list;
  host : Concord.Suspend.Host.t;
  mutable spins_in_vain : int;
  mutable spins_to_skip : int;
  mutable foreign : foreign;
}

and foreign =
  | Native
  | Foreign : {
      task : t;
      effect_ : 'a Effect.t;
      continuation : ('a, unit) Effect.Deep.continuation;
    }
      -> foreign

and inbox =
  | Nothing
  | Wake of t * inbox
  | Cancel of t * inbox
  | Stop of scope * inbox

and sleep = Awake | Asleep of unit Concord.Suspend.resumer

(* Told from outcomes by their address. *)
exception Undecided
exception Doomed

let undecided = Error Undecided
let doomed = Error Doomed

(* The outermost scope and the first task refer to one another, and to the
   scheduler. *)
let scheduler ~is_lazy =
  let inbox = Atomic.make Nothing
  and sleep = Atomic.make Awake
  and ring = Array.make 16 0
  and free = Array.make 1 0
  and waits = Array.make 1 Nowhere
  and ended = Concord.Promise.create ()
  and host = Concord.Suspend.Host.create () in
  let rec scheduler =
    {
      root;
      tasks = [||];
      waits;
      free;
      n_free = 0;
      current = 0;
      domain = -1;
      thread = -1;
      ring;
      mask = Array.length ring - 1;
      first_ready = 0;
      next_free = 0;
      inbox;
      sleep;
      is_lazy;
      doomed = [];
      failed = [];
      host;
      spins_in_vain = 0;
      spins_to_skip = 0;
      foreign = Native;
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
    }
  and first_task =
    {
      home = root;
      number = 0;
      scope = root;
      shields = 0;
      cancelled = false;
      ended;
      previous = -1;
      next = -1;
    }
  in
  scheduler.tasks <- [| first_task |];
  scheduler

let current s = Array.unsafe_get s.tasks s.current

(* No number is free: as many more are made as there are. *)
let[@inline never] grow s =
  let size = Array.length s.tasks in
  s.tasks <- Array.append s.tasks (Array.make size s.root.owner);
  s.waits <- Array.append s.waits (Array.make size Nowhere);
  s.free <- Array.init (2 * size) (fun i -> (2 * size) - 1 - i);
  s.n_free <- size

let create home =
  let s = home.scheduler in
  if s.n_free = 0 then grow s;
  s.n_free <- s.n_free - 1;
  let number = s.free.(s.n_free) in
  let task =
    {
      home;
      number;
      scope = home;
      shields = home.depth;
      cancelled = false;
      ended = Concord.Promise.create ();
      previous = home.last;
      next = -1;
    }
  in
  s.tasks.(number) <- task;
  if home.last = -1 then home.first <- number
  else s.tasks.(home.last).next <- number;
  home.last <- number;
  home.live <- home.live + 1;
  task

let leave { home; number; previous; next; _ } =
  let s = home.scheduler in
  if previous = -1 then home.first <- next else s.tasks.(previous).next <- next;
  if next = -1 then home.last <- previous
  else s.tasks.(next).previous <- previous;
  home.live <- home.live - 1;
  s.tasks.(number) <- s.root.owner;
  s.waits.(number) <- Nowhere;
  s.free.(s.n_free) <- number;
  s.n_free <- s.n_free + 1

let release s =
  s.tasks <- [||];
  s.waits <- [||];
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

let enter_scope task =
  let parent = task.scope in
  let depth = task.shields in
  let scope =
    {
      scheduler = parent.scheduler;
      parent;
      owner = task;
      depth;
      stopped = parent.stopped && depth = parent.depth;
      first = -1;
      last = -1;
      live = 0;
      on_empty = None;
      failures = [];
    }
  in
  task.scope <- scope;
  scope

let leave_scope task = task.scope <- task.scope.parent

let[@inline] is_cancelled task =
  (task.cancelled || task.scope.stopped)
  && ((task.cancelled && task.shields = task.home.depth)
     || (task.scope.stopped && task.shields = task.scope.depth))
