open Task
open Ready
module Suspend = Concord.Suspend
module Physical = Concord_internal.Physical
module Timer = Concord_internal.Timer

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
        Cancel.task_here s task;
        handle rest
    | Stop (scope, rest) ->
        Cancel.scope_here s scope;
        handle rest
  in
  handle (oldest_first Nothing (Atomic.exchange s.inbox Nothing))

let unwind_all s =
  let unwind (Doomed_wait { task; decision }) = unwind_doomed task decision in
  List.iter unwind (List.rev (Atomic.exchange s.doomed []))

(* The timers' thread would have to wait for its turn in this domain; and what was
   cancelled lazily must not stay for as long as the loop is busy. *)
let turns_between_looks = 256

let[@inline never] look s =
  Timer.run_due ();
  unwind_all s

let dispatch s =
  if Atomic.get s.inbox != Nothing then empty_inbox s;
  let first = s.first_ready in
  if first <> s.next_free then begin
    let number = Array.unsafe_get s.ring (first land s.mask) in
    s.first_ready <- first + 1;
    if first land (turns_between_looks - 1) = 0 then look s;
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

let is_unobserved failure = not (is_told failure.task)

(* Nothing is ready: now unwind what was cancelled lazily, or stop the scopes in
   which a task failed for which nobody waits. *)
let last_resort s =
  unwind_all s;
  if is_idle s then begin
    let failed = List.rev s.failed in
    s.failed <- [];
    let stop_failed scope =
      scope.has_failed <- false;
      scope.failures <- List.filter is_unobserved scope.failures;
      if not (List.is_empty scope.failures) then Cancel.scope_here s scope
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
        | Error by -> from s (Some by) (fun () -> Cancel.scope_here s s.root))

let run s start = from s None start
