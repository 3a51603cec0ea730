open Effect.Deep
open Task
module Promise = Concord.Promise
module Suspend = Concord.Suspend
module Forcing = Concord_internal.Forcing

exception Cancelled = Task.Cancelled

let () =
  Printexc.register_printer (function
    | Cancelled -> Some "Concord_fifo.Cancelled"
    | _ -> None)

type handle = Task.t

type _ Effect.t +=
  | Fork : (unit -> unit) -> handle Effect.t
  | Yield : handle Effect.t
  | Self : handle Effect.t

(* --- The end of a task ---------------------------------------------------- *)

let leave task =
  let home = Task.home task in
  Task.leave task;
  if home.live = 0 then
    match home.on_empty with
    | None -> ()
    | Some resumer ->
        home.on_empty <- None;
        ignore (resumer (Ok ()) : bool)

(* Those who joined the task go on before the owner of its scope, who then knows
   that they were told. *)
let returned s task =
  Promise.fill task.ended ();
  leave task;
  Loop.dispatch s

(* Drops those at the head of which somebody was told since: so the list stays
   short even if the loop is never idle. *)
let rec drop_told = function
  | { task; _ } :: rest when is_told task -> drop_told rest
  | failures -> failures

let raised s task e =
  let backtrace = Printexc.get_raw_backtrace () in
  let home = Task.home task in
  (* What the outermost task raises is the result of [run]. *)
  if task == home.owner then Cancel.scope home;
  (match e with
  | Cancelled when was_cancelled task || home.stopped ->
      Promise.fill task.ended ()
  | exn when task == home.owner -> Promise.fail ~backtrace task.ended exn
  | exn ->
      (* Recorded before anybody can be told of it, and forget that. *)
      home.failures <- { task; exn; backtrace } :: drop_told home.failures;
      if not home.has_failed then begin
        home.has_failed <- true;
        s.failed <- home :: s.failed
      end;
      if Promise.fail_waiters ~backtrace task.ended exn > 0 then tell task);
  leave task;
  Loop.dispatch s

(* --- The effects ---------------------------------------------------------- *)

(* Not before [block] has returned: a signal handler may cancel the task while it
   runs, and a value that it gives would be lost. *)
let[@inline] wait s task continuation decision =
  Array.unsafe_set s.waits task.number (Wait { continuation; decision });
  if is_cancelled task then Cancel.interrupt s task;
  Loop.dispatch s

let suspend (type a) s (block : a Suspend.resumer -> a option)
    (continuation : (a, unit) continuation) =
  let task = Task.current s in
  if is_cancelled task then discontinue continuation Cancelled
  else begin
    let decision = Atomic.make undecided in
    let resumer outcome = Ready.resume task decision outcome in
    (* If [block] registered the resumer and gave a value as well, against S1, and
       the resumer was called, then its outcome was promised. *)
    match block resumer with
    | None -> wait s task continuation decision
    | Some v ->
        if Atomic.compare_and_set decision undecided (Ok v) then
          continue continuation v
        else wait s task continuation decision
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        if Atomic.compare_and_set decision undecided (Error e) then
          discontinue_with_backtrace continuation e backtrace
        else wait s task continuation decision
  end

let shield s (continuation : (unit -> unit, unit) continuation) =
  let task = Task.current s in
  Task.shield task;
  continue continuation (fun () -> Task.unshield task)

let refuse (type a) (e : a Effect.t) (continuation : (a, unit) continuation) =
  discontinue continuation (Effect.Unhandled e)

(* Starts a task, on top of the loop's stack. *)
let start s handler task f =
  s.current <- task.number;
  match_with f () handler

(* One handler serves all tasks of a scheduler: a task costs its stack, and
   [s.current] tells whose effect it is.

   An effect that is none of ours is for a handler around [run], which may be the
   host: then the whole scheduler is suspended, and may go on on another domain.
   So the loop performs it, outside of [using]. *)
let handler s =
  let host = s.host in
  let yield =
    Some
      (fun (continuation : (handle, unit) continuation) ->
        Array.unsafe_set s.waits s.current (Turn continuation);
        Ready.push s s.current;
        Loop.dispatch s)
  and self =
    Some
      (fun (continuation : (handle, unit) continuation) ->
        continue continuation (Task.current s))
  in
  let pass (type a) (effect_ : a Effect.t)
      (continuation : (a, unit) continuation) =
    s.foreign <- Foreign { task = Task.current s; effect_; continuation }
  in
  let rec handler =
    {
      retc = (fun () -> returned s (Task.current s));
      exnc = (fun e -> raised s (Task.current s) e);
      effc =
        (fun (type a)
          (e : a Effect.t)
          :
          ((a, unit) continuation -> unit) option
        ->
          match e with
          | Suspend.Suspend block ->
              if Suspend.Host.is_innermost host then
                Some (fun continuation -> suspend s block continuation)
              else Some (refuse e)
          | Yield ->
              if Suspend.Host.is_innermost host then yield else Some (refuse e)
          | Fork f ->
              if Suspend.Host.is_innermost host then
                Some
                  (fun (continuation : (handle, unit) continuation) ->
                    fork f continuation)
              else Some (refuse e)
          | Self ->
              if Suspend.Host.is_innermost host then self else Some (refuse e)
          | Suspend.Host.Protect ->
              Some
                (if Suspend.Host.is_innermost host then shield s else refuse e)
          | Forcing.Enclosing _ -> Some (fun k -> continue k ())
          | _ -> if Suspend.Host.is_innermost host then Some (pass e) else None);
    }
  and fork f (continuation : (handle, unit) continuation) =
    let parent = Task.current s in
    if is_cancelled parent then discontinue continuation Cancelled
    else begin
      let task = Task.create parent.scope in
      s.waits.(parent.number) <- Parent { continuation; child = task };
      Ready.push s parent.number;
      start s handler task f
    end
  in
  handler

(* --- The operations ------------------------------------------------------- *)

let outside name =
  invalid_arg
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

let fork f =
  match Effect.perform (Fork f) with
  | task -> task
  | exception Effect.Unhandled (Fork unhandled) when unhandled == f ->
      outside "fork"

let fork_promise f =
  let promise = Promise.create () in
  let fill () =
    match f () with
    | v -> ignore (Promise.try_fill promise v : bool)
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        ignore (Promise.try_fail ~backtrace promise e : bool)
  in
  ignore (fork fill : handle);
  promise

let cancel = Cancel.task
let protect = Suspend.protect

let join handle =
  (match Effect.perform Self with
  | task when task == handle ->
      invalid_arg "Concord_fifo.join: the task is the calling one"
  | _ | (exception Effect.Unhandled Self) -> ());
  match Promise.await handle.ended with
  | () -> ()
  | exception e -> (
      let backtrace = Printexc.get_raw_backtrace () in
      match Promise.peek handle.ended with
      | Some (Error _) ->
          (* Also if the caller was just cancelled: the task counts on it. *)
          tell handle;
          Promise.await handle.ended
      | Some (Ok ()) | None -> Printexc.raise_with_backtrace e backtrace)

(* A body of the scope ended with [result], and its tasks have ended. The first
   failure that nobody was told of explains why the body was cancelled. *)
let conclude scope result =
  let unobserved = List.rev (List.filter Loop.is_unobserved scope.failures) in
  match (result, unobserved) with
  | (Ok _ | Error (Cancelled, _)), { exn; backtrace; _ } :: _
  | Error (exn, backtrace), _ ->
      Printexc.raise_with_backtrace exn backtrace
  | Ok v, [] -> v

module Scope = struct
  type t = scope

  let cancel = Cancel.scope

  (* Returns or raises when the scope is empty, not before. *)
  let wait_until_empty scope =
    let block resumer =
      if scope.live = 0 then Some ()
      else begin
        scope.on_empty <- Some resumer;
        None
      end
    in
    if scope.live > 0 then (
      try Suspend.suspend block
      with e ->
        let backtrace = Printexc.get_raw_backtrace () in
        Cancel.scope scope;
        protect (fun () -> Suspend.suspend block);
        Printexc.raise_with_backtrace e backtrace)

  let caught f v =
    match f v with
    | v -> Ok v
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        Error (e, backtrace)

  let run body =
    let task = self_of "Scope.run" in
    let scope = Task.enter_scope task in
    let result = caught body scope in
    if Result.is_error result then Cancel.scope scope;
    let waited = caught wait_until_empty scope in
    Task.leave_scope task;
    let result =
      match (result, waited) with
      | Ok _, Error e -> Error e
      | result, (Ok () | Error _) -> result
    in
    let v = conclude scope result in
    if scope.stopped then raise Cancelled else v
end

let run ?(cancellation = `Eager) f =
  let s =
    Task.scheduler
      ~is_lazy:(match cancellation with `Eager -> false | `Lazy -> true)
  in
  let result = ref (Error (Cancelled, Printexc.get_callstack 0)) in
  let main () =
    match f () with
    | v -> result := Ok v
    | exception e ->
        let backtrace = Printexc.get_raw_backtrace () in
        result := Error (e, backtrace);
        Printexc.raise_with_backtrace e backtrace
  in
  Loop.run s (fun () -> start s (handler s) s.root.owner main);
  conclude s.root !result
