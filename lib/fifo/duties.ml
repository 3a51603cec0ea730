open Task_types
open Task
open Ready

(* --- The inbox ------------------------------------------------------------ *)

let rec oldest_first later = function
  | Nothing -> later
  | Wake (task, rest) -> oldest_first (Wake (task, later)) rest
  | Cancel (task, rest) -> oldest_first (Cancel (task, later)) rest
  | Stop (scope, rest) -> oldest_first (Stop (scope, later)) rest

(* Unbroken. To handle a request to cancel again does nothing. *)
let rec handle_due s =
  match s.due with
  | Nothing -> ()
  | Wake (task, rest) ->
      push_due s task rest;
      handle_due s
  | Cancel (task, rest) ->
      Cancel.task_here s task;
      s.due <- rest;
      handle_due s
  | Stop (scope, rest) ->
      Cancel.scope_here s scope;
      s.due <- rest;
      handle_due s

(* Unbroken, because it is called again. *)
let[@inline never] empty_inbox s =
  handle_due s;
  if s.taken == Nothing then s.taken <- Atomic.exchange s.inbox Nothing;
  let oldest = oldest_first Nothing s.taken in
  s.due <- oldest;
  s.taken <- Nothing;
  handle_due s

(* --- What is not urgent --------------------------------------------------- *)

let rec unwind_next s =
  match s.unwinding with
  | [] -> ()
  | Doomed_wait { task; decision } :: rest ->
      unwind_doomed task decision;
      s.unwinding <- rest;
      unwind_next s

(* A handler may cancel another task meanwhile, so check that the list is still the same. *)
let rec take_doomed s =
  let before = s.doomed in
  let oldest = List.rev before in
  if s.doomed == before then begin
    s.unwinding <- oldest;
    s.doomed <- []
  end
  else take_doomed s

let unwind_all s =
  unwind_next s;
  if not (List.is_empty s.doomed) then begin
    take_doomed s;
    unwind_next s
  end

let is_native s =
  match s.foreign with Native -> true | Foreign _ | Turn_of_host -> false

let is_unobserved failure = not (is_observed failure.task)

(* Stops the scopes in which a task failed that no task has joined, and none is expected to. *)
let stop_failed s ~is_due =
  let stop scope =
    scope.failures <- List.filter is_unobserved scope.failures;
    if List.exists is_due scope.failures then Cancel.scope_here s scope
  and is_left scope =
    let is_left = not (scope.stopped || List.is_empty scope.failures) in
    scope.has_failed <- is_left;
    is_left
  in
  List.iter stop (List.rev s.failed);
  s.failed <- List.filter is_left s.failed

let poll s =
  Timer.run_due ();
  s.poller.poll ();
  unwind_all s;
  if not (List.is_empty s.failed) then stop_failed s ~is_due:(is_old s);
  s.polled_at <- s.first_ready

(* If the loop always had something to do, it would never suspend the task of the host that it
   runs in. Then the tasks beside that task could wait forever for one of the loop's. So after
   a while, the host's other tasks run. *)
let end_turn s =
  Turn.begin_ s.turn;
  s.foreign <- Turn_of_host

(* Called when the loop has run 1, 4, 16 and so on tasks since it last polled, because each of
   them may compute for a while, and when it has run [s.poller.every]. *)
let[@inline never] periodic s =
  let is_stopped = s.poll_at = min_int in
  if is_stopped then begin
    empty_inbox s;
    Cancel.stop_all s s.root
  end;
  let is_long = Turn.is_long s.turn in
  if is_stopped || is_long || s.first_ready - s.polled_at >= s.poller.every then
    poll s;
  if is_long then end_turn s;
  let tasks = s.first_ready - s.polled_at in
  s.poll_at <- s.polled_at + Int.min s.poller.every (Int.max 1 (4 * tasks));
  is_native s

let last_resort s =
  unwind_all s;
  if is_empty s then stop_failed s ~is_due:(fun _ -> true)
