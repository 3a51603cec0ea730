(* The interface explains the fields. *)
type t = {
  home : scope;
  mutable scope : scope;
  mutable shields : int;
  mutable cancelled : bool;
  mutable wait : wait;
  ended : unit Concord.Promise.t;
  mutable previous : t;
  mutable next : t;
}

and wait = Wait : 'a Concord.Suspend.resumer -> wait [@@unboxed]

and ready =
  | Nobody
  | Ready : {
      task : t;
      continuation : ('a, unit) Effect.Deep.continuation;
      outcome : ('a, exn) result;
    }
      -> ready
  | Turn of { task : t; continuation : (t, unit) Effect.Deep.continuation }

and decision = Undecided | Doomed | Decided

and scope = {
  scheduler : scheduler;
  mutable parent : scope;
  mutable owner : t;
  depth : int;
  mutable stopped : bool;
  members : t;
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
  mutable domain : int;
  mutable thread : int;
  mutable ring : ready array;
  mutable first : int;
  mutable next_free : int;
  inbox : inbox Atomic.t;
  sleep : sleep Atomic.t;
  mutable current : t;
  is_lazy : bool;
  mutable doomed : wait list;
  mutable failed : scope list;
  host : Concord.Suspend.Host.t;
  mutable spin : bool;
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
  | Wake of ready * inbox
  | Cancel of t * inbox
  | Stop of scope * inbox

and sleep = Awake | Asleep of unit Concord.Suspend.resumer

let nowhere = Wait (fun (_ : (unit, exn) result) -> false)
let nobody = Concord.Promise.of_value ()

(* What refers to itself when it is new (the head of a ring of members, the
   outermost scope) is built as a recursive value. *)
let scheduler ~is_lazy =
  let inbox = Atomic.make Nothing
  and sleep = Atomic.make Awake
  and ring = Array.make 16 Nobody
  and host = Concord.Suspend.Host.create () in
  let rec scheduler =
    {
      root;
      domain = -1;
      thread = -1;
      ring;
      first = 0;
      next_free = 0;
      inbox;
      sleep;
      current = members;
      is_lazy;
      doomed = [];
      failed = [];
      host;
      spin = true;
      foreign = Native;
    }
  and root =
    {
      scheduler;
      parent = root;
      owner = members;
      depth = 0;
      stopped = false;
      members;
      live = 0;
      on_empty = None;
      failures = [];
    }
  and members =
    {
      home = root;
      scope = root;
      shields = 0;
      cancelled = false;
      wait = nowhere;
      ended = nobody;
      previous = members;
      next = members;
    }
  in
  scheduler

let create home =
  let last = home.members.previous in
  let task =
    {
      home;
      scope = home;
      shields = home.depth;
      cancelled = false;
      wait = nowhere;
      ended = Concord.Promise.create ();
      previous = last;
      next = home.members;
    }
  in
  last.next <- task;
  home.members.previous <- task;
  home.live <- home.live + 1;
  task

let leave task =
  task.previous.next <- task.next;
  task.next.previous <- task.previous;
  (* A handle that is kept must not keep the neighbours. *)
  task.previous <- task;
  task.next <- task;
  task.home.live <- task.home.live - 1

let iter_members f scope =
  let rec from task =
    if task != scope.members then begin
      let next = task.next in
      f task;
      from next
    end
  in
  from scope.members.next

let enter_scope task =
  let parent = task.scope in
  let depth = task.shields in
  let rec scope =
    {
      scheduler = parent.scheduler;
      parent;
      owner = task;
      depth;
      stopped = parent.stopped && depth = parent.depth;
      members;
      live = 0;
      on_empty = None;
      failures = [];
    }
  and members =
    {
      home = scope;
      scope;
      shields = 0;
      cancelled = false;
      wait = nowhere;
      ended = nobody;
      previous = members;
      next = members;
    }
  in
  task.scope <- scope;
  scope

let leave_scope task = task.scope <- task.scope.parent

let[@inline] is_cancelled task =
  (task.cancelled || task.scope.stopped)
  && ((task.cancelled && task.shields = task.home.depth)
     || (task.scope.stopped && task.shields = task.scope.depth))
