open Task

(* A task's end is several steps, each of which does nothing if it was done. They
   are repeated until no signal handler raises. *)

let leave s task =
  let home = Members.home task in
  if s.current >= 0 then Members.remove task home;
  if home.live = 0 then
    if has_members home then
      (* daemons, which were cancelled before if the task is one of them *)
      begin if not (is_daemon task) then Cancel.daemons s home
      end
    else
      match home.on_empty with
      | None -> ()
      | Some resumer ->
          ignore (resumer (Ok ()) : bool);
          home.on_empty <- None

(* Those who joined the task go on before the owner of its scope, which then finds
   the failure observed. *)
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

(* Drops those at the head that were observed since: so the list stays
   short even if the loop is never idle. *)
let rec drop_observed = function
  | { task; _ } :: rest when is_observed task -> drop_observed rest
  | failures -> failures

(* Recorded before a task can observe it, and forget that. *)
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
  (* What the outermost task raises is the result of [run]. *)
  if task == home.owner then begin
    Cancel.scope_here s home;
    s.first_failure <- Some { task; exn; backtrace }
  end;
  if not (Promise.is_resolved task.ended) then
    match exn with
    | Cancelled when was_cancelled task || home.stopped ->
        Promise.fill task.ended ()
    | _ when task == home.owner -> Promise.fail ~backtrace task.ended exn
    | _ ->
        record s home { task; exn; backtrace };
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
