open Task_types
open Task
open Handler

exception Cancelled = Task.Cancelled

let () =
  Printexc.register_printer (function
    | Cancelled -> Some "Concord_fifo.Cancelled"
    | _ -> None)

type handle = Task.t

(* --- The operations ------------------------------------------------------- *)

let outside name =
  Reach.misused
    ("Concord_fifo." ^ name ^ ": the caller is not a task of Concord_fifo.run")

let self_of name =
  match Effect.perform Self with
  | task -> task
  | exception Effect.Unhandled Self -> outside name

let self () = self_of "self"

let yield () =
  match Effect.perform Yield with
  | task -> if is_cancelled task then raise Cancelled
  | exception Effect.Unhandled Yield -> outside "yield"

let fork_as name f =
  match Effect.perform (Fork f) with
  | task -> task
  | exception Effect.Unhandled (Fork unhandled) when unhandled == f ->
      outside name

let fork f = fork_as "fork" f

let fail promise e =
  let backtrace = Backtrace.get () in
  ignore (Promise.try_fail ~backtrace promise e : bool)

let fork_promise f =
  let promise = Promise.create () in
  let fill () =
    match f () with
    | v -> ignore (Promise.try_fill promise v : bool)
    | exception e -> fail promise e
  in
  let task = fork_as "fork_promise" fill in
  if Observer.are_kept () then Joins.fills task promise;
  promise

(* The task becomes a daemon on its own stack, before [f] begins. So the code for other tasks
   doesn't have to know about daemons. *)
let fork_daemon f =
  let daemon () =
    let task = self () in
    Task.become_daemon task;
    Cancel.daemons task.scope.scheduler task.scope;
    f ()
  in
  fork_as "fork_daemon" daemon

let cancel = Cancel.task
let protect = Reach.protect

let check_joined name handle =
  match Effect.perform Self with
  | task when task == handle ->
      invalid_arg ("Concord_fifo." ^ name ^ ": a task can't join itself")
  | _ | (exception Effect.Unhandled Self) -> ()

let join handle =
  check_joined "join" handle;
  match Promise.await handle.ended with
  | () -> ()
  | exception e -> (
      let backtrace = Backtrace.get () in
      match Promise.peek handle.ended with
      | Some (Error _) ->
          (* Even if the caller was just cancelled, the failure counts as observed, because
             the failed task may already count it so. *)
          mark_observed handle;
          Promise.await handle.ended
      | Some (Ok ()) | None -> Printexc.raise_with_backtrace e backtrace)

(* This is a choice, although of one event. The failure counts as observed only if the waiting
   task was resumed, and will see it. *)
let join_evt handle =
  Event.guard @@ fun () ->
  check_joined "join_evt" handle;
  let conclude = function
    | Ok () -> ()
    | Error _ ->
        mark_observed handle;
        Promise.await handle.ended
  in
  Event.choose [ Event.wrap (Promise.await_result_evt handle.ended) conclude ]

(* A body of the scope ended with [result], and the tasks of the scope have ended. If a failure
   was observed by no task, the first such failure explains why the body was cancelled. *)
let conclude scope result =
  let unobserved = List.rev (List.filter Duties.is_unobserved scope.failures) in
  match (result, unobserved) with
  | (Ok _ | Error (Cancelled, _)), { exn; backtrace; _ } :: _
  | Error (exn, backtrace), _ ->
      Printexc.raise_with_backtrace exn backtrace
  | Ok _, [] when scope.stopped -> raise Cancelled
  | Ok v, [] -> v

module Scope = struct
  type t = scope

  let cancel = Cancel.scope

  let block scope resumer =
    if not (has_members scope) then Some ()
    else begin
      scope.on_empty <- Some resumer;
      Cancel.daemons scope.scheduler scope;
      None
    end

  let wait_until_empty scope =
    if has_members scope then
      let block resumer = block scope resumer in
      if Observer.takes_slow_path () then
        Reach.suspend_slowly (fun () -> [ Joins.target scope ]) block
      else Reach.suspend_at_once block

  (* Returns or raises only when the scope is empty. *)
  let rec close scope =
    match
      Cancel.scope scope;
      protect (fun () -> wait_until_empty scope)
    with
    | () -> ()
    | exception e ->
        let backtrace = Backtrace.get () in
        close scope;
        Printexc.raise_with_backtrace e backtrace

  let run body =
    let task = self_of "Scope.run" in
    let scope = Task.enter_scope task in
    match
      let v = body scope in
      wait_until_empty scope;
      v
    with
    | v ->
        Task.leave_scope task;
        conclude scope (Ok v)
    | exception e -> (
        let backtrace = Backtrace.get () in
        match close scope with
        | () ->
            Task.leave_scope task;
            conclude scope (Error (e, backtrace))
        | exception another ->
            Task.leave_scope task;
            raise another)
end

let fork_into scope f =
  match Effect.perform (Fork_into (scope, f)) with
  | (_ : handle) -> ()
  | exception Effect.Unhandled (Fork_into (_, unhandled)) when unhandled == f ->
      Reach.misused "Scope.fork: the caller is not a task of the scope"

(* If a task of the scope cancelled it, the scope still returns the result of its body, if
   there is one. *)
let open_scope s body =
  let result = ref None and cancelled = ref false in
  match
    Scope.run (fun scope ->
        assert (scope.scheduler == s);
        let fork f = fork_into scope f
        and cancel () =
          cancelled := true;
          Scope.cancel scope
        in
        result := Some (body Concord_suspend.{ fork; cancel }))
  with
  | () -> Option.get !result
  | exception Cancelled when !cancelled && Option.is_some !result ->
      Option.get !result

(* Each scheduler has its own record, because the library distinguishes schedulers by it. *)
let scopes s = Concord_suspend.{ scope = (fun body -> open_scope s body) }

(* The caller continues in the context in which [f] has ended, as if it had called [f] itself. The
   end is unbroken, because the caller must not go on with the values of another task. *)
let run_in_context s f =
  let ended_in = ref s.contexts.(0) in
  let f () =
    Backtrace.finally f ~finally:(fun () -> ended_in := Context.save s.context)
  in
  Backtrace.finally
    (fun () -> Loop.run s f)
    ~finally:(fun () -> Ready.surely (fun () () -> !ended_in ()) () ())

(* The tasks keep their bindings in the host's slot, if the host's context goes with them. *)
let begin_with_bindings s =
  match Locals.kept () with
  | Some place -> s.place <- place
  | None ->
      s.place <- Locals.in_slot (Task.slot s);
      let inherited = Locals.snapshot () in
      if inherited != Bindings.none then Task.set_locals s.root.owner inherited

let run_scheduler s f =
  s.scopes <- scopes s;
  s.start <- Handler.run;
  begin_with_bindings s;
  let result = ref None in
  let f () = result := Some (f ()) in
  if Option.is_some s.context then run_in_context s f else Loop.run s f;
  conclude s.root
    (match (s.first_failure, !result) with
    | Some { exn; backtrace; _ }, _ -> Error (exn, backtrace)
    | None, Some v -> Ok v
    | None, None -> assert false (* the first task has ended *))

let run ?(cancellation = `Eager) f =
  let is_lazy = match cancellation with `Eager -> false | `Lazy -> true in
  run_scheduler (Task.scheduler ~is_lazy) f

type poller = Task_types.poller = {
  wait : (unit Concord_suspend.resumer -> unit option) -> unit;
  poll : unit -> unit;
  every : int;
  spins : bool;
}

let run_polled poller f =
  let s = Task.scheduler ~is_lazy:false in
  let is_innermost () = s.domain >= 0 && Registered.is_innermost s.host in
  s.poller <- poller ~is_innermost;
  run_scheduler s f
