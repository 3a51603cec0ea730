open Task_types
open Task
open Ready

(* A handler may add one meanwhile, so check that the list is still the same. *)
let rec add_doomed s wait =
  let before = s.doomed in
  let after = wait :: before in
  if s.doomed == before then s.doomed <- after else add_doomed s wait

(* A task that has ended has no wait, and another task may have its number. The task that runs
   may be in its [block]. It checks for the cancellation itself when [block] has returned. *)
let interrupt s task =
  let number = task.number in
  if s.tasks.(number) == task && number <> s.current && is_cancelled task then begin
    Spinner.leave s;
    match Guarded.of_task s number with
    | Nowhere | Turn _ | Parent _ | Start _ | Answer _ | Failing _ | Ended
    | Raised _ | Guarded _ ->
        ()
    | Wait { decision; _ } ->
        if s.is_lazy then begin
          let wait = Doomed_wait { task; decision } in
          if Decision.decide decision doomed then surely add_doomed s wait
        end
        else if Decision.decide decision cancelled then make_ready task
  end

let deliver s task =
  mark_cancelled task;
  interrupt s task

(* Stopping a scope stops its owner and its members. Each of them may be inside further scopes
   that it owns. These are stopped too, from the outside in. The last one that is stopped is
   the first one that was made under a [protect]. [reach] returns that scope, the innermost
   one. *)
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

(* Stops the members of one task's scopes, from [scope] outwards, but not those of [outer]. *)
and stop_members s outer scope =
  if scope != outer then begin
    Members.iter (stop_task s scope) scope;
    stop_members s outer scope.parent
  end

let rec is_inside outer scope =
  scope == outer || (scope != scope.parent && is_inside outer scope.parent)

let stop s scope =
  scope.stopped <- true;
  (* otherwise the scope has ended *)
  if is_inside scope scope.owner.scope then begin
    stop_task s scope scope.owner;
    Members.iter (stop_task s scope) scope
  end

let stop_all s scope = surely stop s scope
let scope_here s scope = if not scope.stopped then stop_all s scope

(* A request that another thread posted may arrive after the end of the task. *)
let task_here s task =
  if not (was_cancelled task || Promise.is_resolved task.ended) then
    surely deliver s task

let daemons s scope =
  if Members.is_over scope then Members.iter (task_here s) scope

(* After a scheduler has ended, its inbox is no longer emptied. *)
let ask s message =
  if has_members s.root then begin
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
  else if not (Promise.is_resolved task.ended) then
    if on_loop s then task_here s task
    else ask s (fun rest -> Cancel (task, rest))
