open Task_types
open Task

(* The end of a task has several steps. A step does nothing if it was already done.
   Unbroken, because the steps are repeated. *)

let leave s task =
  let home = Members.home task in
  if s.current >= 0 then Members.remove task home;
  if home.live = 0 then
    if has_members home then
      (* The members that are left are daemons. If the task itself is a daemon, they were
         cancelled before. *)
      begin if not (is_daemon task) then Cancel.daemons s home
      end
    else
      match home.on_empty with
      | None -> ()
      | Some resumer ->
          ignore (resumer (Ok ()) : bool);
          home.on_empty <- None

(* The tasks that joined the task continue before the owner of its scope. So the owner finds
   that the failure was observed. *)
let rec end_returned s task =
  match
    ignore (Promise.try_fill task.ended () : bool);
    leave s task
  with
  | () -> ()
  | exception e ->
      note s e;
      end_returned s task;
      ()

let returned s = end_returned s (Task.current s)

(* Drops the failures at the head that were observed meanwhile. So the list stays short even if
   the loop is never idle. *)
let rec drop_observed = function
  | { task; _ } :: rest when is_observed task -> drop_observed rest
  | failures -> failures

(* Unbroken. The failure is recorded before the promise is resolved. In the other order, a
   repeated [settle] could find the promise resolved, and never record the failure. *)
let record s home ({ task; _ } as failure) =
  match home.failures with
  | { task = latest; _ } :: _ when latest == task -> ()
  | failures ->
      let failures = failure :: drop_observed failures
      and failed = if home.has_failed then s.failed else home :: s.failed in
      home.failures <- failures;
      home.has_failed <- true;
      s.failed <- failed

let settle s task exn backtrace =
  let home = Members.home task in
  (* The exception of the outermost task is the result of [run]. *)
  if task == home.owner then begin
    Cancel.scope_here s home;
    s.first_failure <- Some { task; exn; backtrace; since = age s }
  end;
  if not (Promise.is_resolved task.ended) then
    match exn with
    | Cancelled when was_cancelled task || home.stopped ->
        Promise.fill task.ended ()
    | _ when task == home.owner -> Promise.fail ~backtrace task.ended exn
    | _ ->
        record s home { task; exn; backtrace; since = age s };
        if Promise.fail_waiters ~backtrace task.ended exn > 0 then
          mark_observed task

let rec end_raised s task exn backtrace =
  match
    if s.current >= 0 then settle s task exn backtrace;
    leave s task
  with
  | () -> ()
  | exception e ->
      note s e;
      end_raised s task exn backtrace;
      ()

let raised s exn backtrace = end_raised s (Task.current s) exn backtrace
