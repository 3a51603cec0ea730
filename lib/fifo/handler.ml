open Effect.Deep
open Task_types
open Task

type _ Effect.t +=
  | Fork : (unit -> unit) -> Task.t Effect.t
  | Fork_into : scope * (unit -> unit) -> Task.t Effect.t
  | Yield : Task.t Effect.t
  | Self : Task.t Effect.t
  | Own_scopes : Concord_suspend.scopes Effect.t  (** A question. *)

(* --- The end of a task ---------------------------------------------------- *)

(* If a function calls a function of another module last, the compiler adds a polling point at
   its beginning. So the functions below call this one last. *)
let[@inline never] go_on s = Loop.dispatch s

let ended s =
  (match Array.unsafe_get s.waits s.current with
  | Raised { exn; backtrace } -> Termination.raised s exn backtrace
  | _ -> Termination.returned s);
  go_on s

(* --- The effects ---------------------------------------------------------- *)

(* Until the loop can find a task's continuation, all polling points are inside exception
   handlers. These pass an exception to the task. The operation that the task performs then
   raises, and has done nothing. For this reason, a function that is given a continuation
   doesn't call a function of another module last, unless it has allocated. Otherwise the
   compiler may add a polling point at its beginning. *)

(* [discontinue_with_backtrace] has a polling point before it uses the continuation, but
   [discontinue] has none. *)
let[@inline never] fail s continuation exn =
  let backtrace = Backtrace.get () in
  match Failing { continuation; exn; backtrace } with
  | failing ->
      s.waits.(s.current) <- failing;
      discontinue_with_backtrace continuation exn backtrace
  | exception another ->
      note s another;
      discontinue continuation exn

(* The cancellation is checked only after [block] has returned. If the task were cancelled while
   [block] runs, a value that [block] returns would be lost. *)
let[@inline] wait s task =
  s.current <- -1;
  s.last <- task.number;
  if is_cancelled task then Cancel.interrupt s task;
  Loop.dispatch s

let suspend (type a) s (block : a Concord_suspend.resumer -> a option)
    (continuation : (a, unit) continuation) =
  let task = Task.current s in
  if is_cancelled task then discontinue continuation Cancelled
  else
    match Decision.create () with
    | exception e -> fail s continuation e
    | decision -> (
        (* If [block] registered the resumer and also returned a value, it broke S1. If the
           resumer was called, its caller was promised that the task gets that outcome. *)
        match
          let resumer outcome = Ready.resume task decision outcome in
          Array.unsafe_set s.waits task.number (Wait { decision; continuation });
          block resumer
        with
        | None -> wait s task
        | Some v ->
            if Decision.decide decision answered then continue continuation v
            else wait s task
        | exception e ->
            if Decision.decide decision answered then fail s continuation e
            else wait s task)

let yield s continuation =
  match
    let number = s.current in
    Array.unsafe_set s.waits number (Turn continuation);
    Ready.push s number;
    s.current <- -1
  with
  | () -> Loop.dispatch s
  | exception e -> if s.current >= 0 then fail s continuation e else raise e

let prepare_fork s scope parent f continuation =
  let child = Members.prepare scope in
  let start = Start f and wait = Parent { continuation; child } in
  Task.inherit_locals s parent child;
  Array.unsafe_set s.waits child.number start;
  Array.unsafe_set s.waits parent.number wait;
  Ready.push s parent.number;
  Members.add s child

let fork s scope parent f continuation =
  if is_cancelled parent then discontinue continuation Cancelled
  else
    match prepare_fork s scope parent f continuation with
    | () -> s.start s
    | exception e ->
        if s.current = parent.number then fail s continuation e else raise e

let shield s (continuation : (unit -> unit, unit) continuation) =
  let task = Task.current s in
  match fun () -> Task.unshield task with
  | unshield ->
      Task.shield task;
      continue continuation unshield
  | exception e -> fail s continuation e

let note_origin s origin = s.origins <- Numbers.add s.current origin s.origins

let answer (type a) s (question : a Effect.t) (otherwise : a)
    (continuation : (a, unit) continuation) =
  match question with
  | Who.Who -> (
      match Some (Joins.who (Task.current s)) with
      | who -> continue continuation who
      | exception e -> fail s continuation e)
  | Locals.Where -> continue continuation s.place
  | Own_scopes -> continue continuation s.scopes
  | Who.Forked origin -> (
      match note_origin s origin with
      | () -> continue continuation true
      | exception e -> fail s continuation e)
  | _ -> continue continuation otherwise

let refuse s effect_ continuation =
  match Effect.Unhandled effect_ with
  | unhandled -> discontinue continuation unhandled
  | exception e -> fail s continuation e

(* Only a task in the scope may fork into it, because that task keeps the scope from ending. A
   fork by another task may come too late. *)
let fork_into s scope f effect_ continuation =
  let parent = Task.current s in
  match Cancel.is_inside scope parent.scope with
  | true -> fork s scope parent f continuation
  | false -> refuse s effect_ continuation
  | exception e -> fail s continuation e

(* A foreign effect is for a handler around [run], which may be the host. If it is, the whole
   scheduler is suspended, and may continue on another domain. So the loop performs the effect,
   outside [using]. *)
let pass s effect_ continuation =
  match Foreign { task = Task.current s; effect_; continuation } with
  | foreign ->
      s.foreign <- foreign;
      s.current <- -1
  | exception e -> fail s continuation e

let perform (type a) s (e : a Effect.t) (k : (a, unit) continuation) =
  match e with
  | Concord_suspend.Suspend block -> suspend s block k
  | Yield -> yield s k
  | Fork f ->
      let parent = Task.current s in
      fork s parent.scope parent f k
  | Fork_into (scope, f) -> fork_into s scope f e k
  | Self -> continue k (Task.current s)
  | Concord_suspend.Protect -> shield s k
  | Concord_suspend.Scopes -> continue k s.scopes
  | Concord_suspend.Ask { question; otherwise } -> answer s question otherwise k
  | _ -> pass s e k

(* The effect comes from code of a task that another scheduler runs. *)
let[@inline never] perform_elsewhere (type a) s (e : a Effect.t)
    (k : (a, unit) continuation) =
  match e with
  | Concord_suspend.Suspend _ | Yield | Fork _ | Fork_into _ | Self
  | Concord_suspend.Protect | Concord_suspend.Scopes ->
      refuse s e k
  | Concord_suspend.Ask { question = Locals.Where; _ } when s.current >= 0 -> (
      match Locals.around (Task.locals (Task.current s)) with
      | place -> continue k place
      | exception e -> fail s k e)
  | Concord_suspend.Ask { otherwise; _ } -> continue k otherwise
  | _ ->
      (* [handles] was interrupted, so [s.interruption] is set *)
      discontinue k s.interruption

let[@inline never] is_innermost s =
  match Registered.is_innermost s.host with
  | is_innermost -> is_innermost
  | exception e ->
      note s e;
      true

let[@inline] handles (type a) s (e : a Effect.t) =
  match e with
  | Concord_suspend.Suspend _ | Yield | Fork _ | Fork_into _ | Self -> true
  | Concord_suspend.Protect | Concord_suspend.Scopes | Concord_suspend.Ask _ ->
      true
  | _ -> is_innermost s

(* While the program searches for leaks, only the resumer keeps the continuation alive.
   Unbroken: the task gets the exception. *)
let[@inline never] suspend_guarded (type a) s
    (block : a Concord_suspend.resumer -> a option)
    (continuation : (a, unit) continuation) =
  let task = Task.current s in
  if is_cancelled task then discontinue continuation Cancelled
  else
    match Decision.create () with
    | exception e -> fail s continuation e
    | decision -> (
        match
          let suspended = Wait { decision; continuation } in
          let guarded = Guarded.create suspended in
          let resumer outcome =
            Guarded.keep guarded suspended;
            Ready.resume task decision outcome
          and waits_at () = get_callstack continuation Leaks.max_frames in
          let guard =
            if Leaks.is_of_loop block then resumer
            else Leaks.guard waits_at resumer
          in
          s.waits.(task.number) <- Guarded guarded;
          block guard
        with
        | None -> wait s task
        | Some v ->
            if Decision.decide decision answered then continue continuation v
            else wait s task
        | exception e ->
            if Decision.decide decision answered then fail s continuation e
            else wait s task)

let perform_guarded (type a) s (e : a Effect.t) (k : (a, unit) continuation) =
  match e with
  | Concord_suspend.Suspend block -> suspend_guarded s block k
  | _ -> perform s e k

(* --- While waits are kept, or the program is traced -------------------------- *)

(* Called in the new task. *)
let forked s origin f () =
  let child () = Joins.who_is (Task.current s) in
  note_origin s origin;
  Forks.run origin ~ask:child f

(* [k] is the continuation of the parent. *)
let origin s k =
  {
    Who.parent = Joins.who (Task.current s);
    forked_at = get_callstack k Forks.max_frames;
  }

(* The polling point is inside the exception handler. *)
let[@inline never] perform_observed (type a) s (e : a Effect.t)
    (k : (a, unit) continuation) =
  match
    Sys.poll_actions ();
    if Forks.are_observed () then
      match e with
      | Fork f -> (Fork (forked s (origin s k) f) : a Effect.t)
      | Concord_suspend.Suspend block when Observer.is_traced () ->
          let ready = s.next_free - s.first_ready in
          !Observer.it.queue "fifo: ready tasks" ready block;
          e
      | _ -> e
    else e
  with
  | observed ->
      if Observer.finds_leaks () then perform_guarded s observed k
      else perform s observed k
  | exception another -> fail s k another

(* --- One handler for all tasks ------------------------------------------------ *)

let perform_as_observed s e k =
  if Forks.are_observed () then perform_observed s e k
  else if Observer.finds_leaks () then perform_guarded s e k
  else perform s e k

(* The host's context is saved before the effect, because the task may be suspended by it. If
   the task continues at once, that was in vain, and does no harm. *)
let[@inline never] perform_watched s e k =
  match s.context with
  | None -> perform_as_observed s e k
  | Some save -> (
      match s.contexts.(s.current) <- save () with
      | () -> perform_as_observed s e k
      | exception another -> fail s k another)

(* [s.current] is the task that performed the effect. *)
let[@inline] performed s ~is_innermost e k =
  if not is_innermost then perform_elsewhere s e k
  else if s.is_watched then perform_watched s e k
  else perform s e k

(* Each task keeps one block, which is the handler of effects. It has five words.

   If a function ends in a call of an unknown function, and has no polling point on the way to
   it, the compiler adds one at its beginning. [poll_actions] is that polling point, but inside
   an exception handler. *)
let run s =
  match Loop.begin_ s with
  | s -> ended s
  | effect e, continuation when handles s e -> (
      match
        Sys.poll_actions ();
        Registered.is_innermost s.host
      with
      | is_innermost -> performed s ~is_innermost e continuation
      | exception another -> fail s continuation another)
