open Task
open Ready

(* --- The inbox ------------------------------------------------------------ *)

let rec oldest_first later = function
  | Nothing -> later
  | Wake (task, rest) -> oldest_first (Wake (task, later)) rest
  | Cancel (task, rest) -> oldest_first (Cancel (task, later)) rest
  | Stop (scope, rest) -> oldest_first (Stop (scope, later)) rest

(* If a request to cancel is interrupted after it has been handled, it is handled again, which
   does nothing. *)
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

(* A signal handler may interrupt this after each step. Then it is called again. *)
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

(* A signal handler may cancel another task meanwhile, so check that the list is still the
   same. *)
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

(* A guest's loop that always has something to do would never suspend the task that it runs in.
   Then the tasks beside that task could wait forever for a result of the guest. So after this
   time the other tasks run. The value only decides how often they do. *)
let time_of_guest = 0.01

let let_host_go_on s =
  if s.guest_until = 0 then s.guest_until <- Timer.deadline time_of_guest
  else if s.guest_until <> max_int && Timer.has_passed s.guest_until then begin
    s.guest_until <- 0;
    s.foreign <- Turn_of_host
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

let[@inline never] periodic s =
  if s.poll_at = min_int then begin
    empty_inbox s;
    Cancel.stop_all s s.root
  end;
  Timer.run_due ();
  s.poller.poll ();
  unwind_all s;
  if not (List.is_empty s.failed) then stop_failed s ~is_due:(is_old s);
  s.poll_at <- s.first_ready + s.poller.every;
  let_host_go_on s;
  is_native s

let last_resort s =
  unwind_all s;
  if is_empty s then stop_failed s ~is_due:(fun _ -> true)
