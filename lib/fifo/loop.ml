open Task
module Suspend = Concord.Suspend
module Physical = Concord_internal.Physical

exception Cancelled

let this_domain () = (Domain.self () :> int)
let this_thread () = Thread.id (Thread.self ())

(* --- The ready queue ------------------------------------------------------ *)

(* While it grows, other threads of the domain must not push. *)
let[@inline never] grow s =
  let domain = s.domain in
  s.domain <- -1;
  let size = Array.length s.ring in
  let ring = Array.make (2 * size) 0 in
  for i = s.first_ready to s.next_free - 1 do
    ring.(i land ((2 * size) - 1)) <- s.ring.(i land (size - 1))
  done;
  s.ring <- ring;
  s.mask <- (2 * size) - 1;
  s.domain <- domain

(* Threads of one domain switch at polls and allocations only, and there is none
   in the next two functions: so they are atomic between these threads. That
   [s.domain] is the calling thread's means that no other domain is at it. *)

let[@poll error] [@inline never] store s number =
  let next_free = s.next_free in
  if next_free - s.first_ready <= s.mask then begin
    Array.unsafe_set s.ring (next_free land s.mask) number;
    s.next_free <- next_free + 1;
    true
  end
  else false

let[@poll error] [@inline never] try_push s number =
  let next_free = s.next_free in
  if s.domain = this_domain () && next_free - s.first_ready <= s.mask then begin
    Array.unsafe_set s.ring (next_free land s.mask) number;
    s.next_free <- next_free + 1;
    true
  end
  else false

let rec push_growing s number =
  grow s;
  if not (store s number) then push_growing s number

let[@inline] push s number = if not (store s number) then push_growing s number

let rec post s message =
  let before = Atomic.get s.inbox in
  if not (Atomic.compare_and_set s.inbox before (message before)) then
    (* another thread posted, or the loop emptied it *)
    post s message

(* Whoever finds the loop asleep takes its resumer, and calls it. *)
let[@inline never] wake_sleeper s =
  match Atomic.get s.sleep with
  | Awake -> ()
  | Asleep resumer as before ->
      if Atomic.compare_and_set s.sleep before Awake then
        ignore (resumer (Ok ()) : bool)

let[@inline] wake s = if Atomic.get s.sleep != Awake then wake_sleeper s

(* --- Resuming and cancelling ---------------------------------------------- *)

let on_loop s = s.domain = this_domain () && s.thread = this_thread ()

(* The loop itself may find its ring full: then it must not go through the inbox,
   which is behind those that it pushes later. *)
let[@inline never] make_ready_slowly s task =
  if on_loop s then push s task.number
  else post s (fun rest -> Wake (task, rest))

let[@inline] make_ready s task =
  if not (try_push s task.number) then make_ready_slowly s task;
  wake s

(* A task that was cancelled lazily is unwound now, but was not resumed. *)
let[@inline never] unwind_doomed task decision =
  if
    Atomic.get decision == doomed
    && Atomic.compare_and_set decision doomed (Error Cancelled)
  then make_ready task.scope.scheduler task

let[@inline] resume task decision outcome =
  if Atomic.compare_and_set decision undecided outcome then begin
    make_ready task.scope.scheduler task;
    true
  end
  else begin
    unwind_doomed task decision;
    false
  end

(* A task that has ended has no wait: its number may be another's. *)
let interrupt s task =
  if s.tasks.(task.number) == task && is_cancelled task then
    match s.waits.(task.number) with
    | Nowhere | Turn _ | Parent _ -> ()
    | Wait { decision; _ } ->
        if s.is_lazy then
          begin if Atomic.compare_and_set decision undecided doomed then
            s.doomed <- (fun () -> unwind_doomed task decision) :: s.doomed
          end
        else if Atomic.compare_and_set decision undecided (Error Cancelled) then
          push s task.number

let cancel_here s task =
  if not task.cancelled then begin
    task.cancelled <- true;
    interrupt s task
  end

(* Stopping a scope reaches the tasks in it: its owner and its members. Each of
   them may be inside further scopes that it owns; these are stopped too, from the
   outside in, up to the first one that was made under a [protect]. *)
let rec stop_here s scope =
  if not scope.stopped then begin
    scope.stopped <- true;
    stop_task s scope scope.owner;
    iter_members (stop_task s scope) scope
  end

and stop_task s outer task =
  let rec reaches scope =
    scope == outer
    || scope != scope.parent && reaches scope.parent
       && scope.depth = scope.parent.depth
       && begin
         stop_here s scope;
         true
       end
  in
  if reaches task.scope then interrupt s task

(* The inbox of a scheduler that has ended is not emptied any more. *)
let ask s message =
  if s.root.live > 0 then begin
    post s message;
    wake s
  end

let cancel task =
  let s = task.scope.scheduler in
  if not (Concord.Promise.is_resolved task.ended) then
    if on_loop s then cancel_here s task
    else ask s (fun rest -> Cancel (task, rest))

let stop scope =
  let s = scope.scheduler in
  if on_loop s then stop_here s scope
  else ask s (fun rest -> Stop (scope, rest))

(* --- The loop ------------------------------------------------------------- *)

let[@inline never] empty_inbox s =
  let rec oldest_first later = function
    | Nothing -> later
    | Wake (task, rest) -> oldest_first (Wake (task, later)) rest
    | Cancel (task, rest) -> oldest_first (Cancel (task, later)) rest
    | Stop (scope, rest) -> oldest_first (Stop (scope, later)) rest
  in
  let rec handle = function
    | Nothing -> ()
    | Wake (task, rest) ->
        push s task.number;
        handle rest
    | Cancel (task, rest) ->
        cancel_here s task;
        handle rest
    | Stop (scope, rest) ->
        stop_here s scope;
        handle rest
  in
  handle (oldest_first Nothing (Atomic.exchange s.inbox Nothing))

let dispatch s =
  if Atomic.get s.inbox != Nothing then empty_inbox s;
  let first = s.first_ready in
  if first <> s.next_free then begin
    let number = Array.unsafe_get s.ring (first land s.mask) in
    s.first_ready <- first + 1;
    s.current <- number;
    match Array.unsafe_get s.waits number with
    | Turn continuation ->
        Effect.Deep.continue continuation (Array.unsafe_get s.tasks number)
    | Wait { continuation; decision } -> (
        match Atomic.get decision with
        | Ok v ->
            (* The value must not be kept alive from here. *)
            if not (Physical.is_immediate v) then
              Array.unsafe_set s.waits number Nowhere;
            Effect.Deep.continue continuation v
        | Error e ->
            Array.unsafe_set s.waits number Nowhere;
            Effect.Deep.discontinue continuation e)
    | Parent { continuation; child } ->
        Array.unsafe_set s.waits number Nowhere;
        Effect.Deep.continue continuation child
    | Nowhere -> assert false (* only suspended tasks are pushed *)
  end

let is_idle s = s.first_ready = s.next_free && Atomic.get s.inbox == Nothing
let is_unobserved failure = not failure.told

(* Nothing is ready: now unwind what was cancelled lazily, or stop the scopes in
   which a task failed for which nobody waits. *)
let last_resort s =
  let doomed = List.rev s.doomed in
  s.doomed <- [];
  List.iter (fun unwind -> unwind ()) doomed;
  if is_idle s then begin
    let failed = List.rev s.failed in
    s.failed <- [];
    let stop_failed scope =
      scope.failures <- List.filter is_unobserved scope.failures;
      if not (List.is_empty scope.failures) then stop_here s scope
    in
    List.iter stop_failed failed
  end

(* Between domains most of the time goes into waking a sleeping loop; so a loop
   spins before it sleeps, unless there is no other core to spin for. After [n]
   times in vain it lets up to [2^n - 1] waits pass without. *)
let max_spins = if Domain.recommended_domain_count () > 1 then 1000 else 0
let max_in_vain = 6

let spin s =
  let rec go n =
    (not (is_idle s))
    || n > 0
       && begin
         Domain.cpu_relax ();
         go (n - 1)
       end
  in
  if s.spins_to_skip > 0 then begin
    s.spins_to_skip <- s.spins_to_skip - 1;
    false
  end
  else if go max_spins then begin
    s.spins_in_vain <- 0;
    true
  end
  else begin
    s.spins_in_vain <- Int.min max_in_vain (s.spins_in_vain + 1);
    s.spins_to_skip <- (1 lsl s.spins_in_vain) - 1;
    false
  end

let is_native s = match s.foreign with Native -> true | Foreign _ -> false

let rec work s =
  dispatch s;
  if s.root.live > 0 && is_native s then begin
    if is_idle s then last_resort s;
    if (not (is_idle s)) || spin s then work s
  end

(* [s.sleep]

   State       Left by   To          By whom
   Awake       block     Asleep r    the loop
   Asleep r    wake      Awake       any thread, after it posted; it calls r
               block     Awake       the loop, which found something in the inbox
               park      Awake       the loop, cancelled by its host

   The loop announces that it sleeps before it looks at the inbox for the last
   time, and who posts looks at [s.sleep] after: one of them sees the other (H4). *)
let block s resumer =
  let asleep = Asleep resumer in
  Atomic.set s.sleep asleep;
  if is_idle s then None
  else if Atomic.compare_and_set s.sleep asleep Awake then Some ()
  else (* [wake] has the resumer, and calls it *) None

(* Suspends the task in which the loop runs. *)
let park s suspend =
  match suspend (block s) with
  | () -> Ok ()
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      Atomic.set s.sleep Awake;
      Error (e, backtrace)

(* A host that goes on raising, although protected, cannot suspend its task: it is
   Eio, without its plug-in. Then the thread waits. *)
let park_cancelled s =
  let protected block = Suspend.protect (fun () -> Suspend.suspend block) in
  match park s protected with
  | Ok () -> ()
  | Error _ -> ignore (park s Concord_internal.Park.suspend_thread)

(* Runs the loop from [f] on until it must wait, is over, or a task performed a
   foreign effect. *)
let enter s f =
  let in_loop () =
    s.thread <- this_thread ();
    s.domain <- this_domain ();
    f ();
    if is_native s then work s
  in
  match Suspend.Host.using s.host in_loop with
  | () -> s.domain <- -1
  | exception e ->
      let backtrace = Printexc.get_raw_backtrace () in
      s.domain <- -1;
      Printexc.raise_with_backtrace e backtrace

(* [cancelled] is what the host raised. *)
let rec from s cancelled f =
  enter s f;
  match s.foreign with
  | Foreign { task; effect_; continuation } -> (
      s.foreign <- Native;
      match Effect.perform effect_ with
      | v ->
          from s cancelled (fun () ->
              s.current <- task.number;
              Effect.Deep.continue continuation v)
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          from s cancelled (fun () ->
              s.current <- task.number;
              Effect.Deep.discontinue_with_backtrace continuation e backtrace))
  | Native -> (
      if s.root.live = 0 then begin
        Task.release s;
        let raise_it (e, backtrace) =
          Printexc.raise_with_backtrace e backtrace
        in
        Option.iter raise_it cancelled
      end
      else if Option.is_some cancelled then begin
        park_cancelled s;
        from s cancelled ignore
      end
      else
        match park s Suspend.suspend with
        | Ok () -> from s None ignore
        | Error by -> from s (Some by) (fun () -> stop_here s s.root))

let run s start = from s None start
