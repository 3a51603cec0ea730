open Task
open Ready

let rec update list f =
  let before = Atomic.get list in
  if not (Atomic.compare_and_set list before (f before)) then
    (* a signal handler cancelled a task *)
    update list f

let add_doomed s wait = update s.doomed (fun rest -> wait :: rest)

(* A task that has ended has no wait: its number may be another's. *)
let interrupt s task =
  if s.tasks.(task.number) == task && is_cancelled task then
    match s.waits.(task.number) with
    | Nowhere | Turn _ | Parent _ -> ()
    | Wait { decision; _ } ->
        if s.is_lazy then
          begin if Atomic.compare_and_set decision undecided doomed then
            add_doomed s (Doomed_wait { task; decision })
          end
        else if Atomic.compare_and_set decision undecided (Error Cancelled) then
          push s task.number

(* A request that was posted may come after the end of the task. *)
let task_here s task =
  if not (was_cancelled task || Concord.Promise.is_resolved task.ended) then begin
    mark_cancelled task;
    interrupt s task
  end

(* Stopping a scope reaches the tasks in it: its owner and its members. Each of
   them may be inside further scopes that it owns; these are stopped too, from the
   outside in, up to the first one that was made under a [protect]. This is the
   innermost one that is reached. *)
let rec reach outer task scope =
  if scope == outer then scope
  else
    let { parent; depth; _ } = scope in
    let reached = reach outer task parent in
    if reached == parent && depth = depth_in task parent then begin
      scope.stopped <- true;
      scope
    end
    else reached

let rec stop_task s outer task =
  let innermost = reach outer task task.scope in
  if innermost == task.scope then interrupt s task;
  stop_members s outer innermost

(* Those of the scopes of one task, from [scope] to before [outer]. *)
and stop_members s outer scope =
  if scope != outer then begin
    iter_members (stop_task s scope) scope;
    stop_members s outer scope.parent
  end

let rec is_inside outer scope =
  scope == outer || (scope != scope.parent && is_inside outer scope.parent)

let scope_here s scope =
  if not scope.stopped then begin
    scope.stopped <- true;
    (* else it has ended *)
    if is_inside scope scope.owner.scope then begin
      stop_task s scope scope.owner;
      iter_members (stop_task s scope) scope
    end
  end

(* The inbox of a scheduler that has ended is not emptied any more. *)
let ask s message =
  if s.root.live > 0 then begin
    post s message;
    wake s
  end

let scope scope =
  let s = scope.scheduler in
  if on_loop s then scope_here s scope
  else ask s (fun rest -> Stop (scope, rest))

let task task =
  let s = task.scope.scheduler in
  if task == s.root.owner then scope s.root
  else if not (Concord.Promise.is_resolved task.ended) then
    if on_loop s then task_here s task
    else ask s (fun rest -> Cancel (task, rest))
