open Concord.Tools
open Host_kit
open Small_state

module Make (Fault : sig
  val has : Fault.t -> bool
end) =
struct
  open Fault

  (* --- Suspension --------------------------------------------------------- *)

  let in_task t f =
    let before = t.in_task in
    t.in_task <- true;
    f ();
    t.in_task <- before

  let go_on k = function
    | Ok v -> Effect.Deep.continue k v
    | Error e -> Effect.Deep.discontinue k e

  (* One suspension. *)
  type 'a wait = {
    decision : 'a Decision.t;
    go : unit -> unit;
        (** Continues the task, the first time that it is called. *)
    mutable in_own_block : bool;
    over : bool Atomic.t;
  }

  let rec turn t wait ~elsewhere () =
    if not elsewhere then t.own <- t.own - 1;
    if has Prefers_its_own && elsewhere && t.own > 0 then
      post t (turn t wait ~elsewhere)
    else begin
      wait.go ();
      Atomic.set wait.over true
    end

  let locking t f =
    if has Holds_a_lock then Stdlib.Mutex.protect t.lock f else f ()

  let resumer t wait outcome =
    let elsewhere = self () <> t.thread in
    if has Closes_resumers && Atomic.get t.ended then
      invalid_arg "the loop has ended"
    else if
      has Runs_in_resumer && (not elsewhere) && t.in_task
      && not wait.in_own_block
    then
      Decision.decide wait.decision outcome
      && begin
        wait.go ();
        true
      end
    else if
      has Drops_in_block && (not elsewhere) && t.in_block
      && not wait.in_own_block
    then Decision.decide wait.decision outcome
    else if
      has Starves_one_resumed && (not elsewhere) && (not wait.in_own_block)
      && begin
        t.resumptions <- t.resumptions + 1;
        t.resumptions = 3
      end
    then Decision.decide wait.decision outcome
    else begin
      let accepted =
        locking t @@ fun () ->
        once (turn t wait ~elsewhere)
        |> Inbox.decide_and_post t.inbox wait.decision outcome
        |> fun posted ->
        if has Never_wakes && elsewhere then posted <> Inbox.Refused
        else tell t posted
      in
      if accepted && not elsewhere then t.own <- t.own + 1;
      if has Resumer_blocks && accepted && elsewhere then
        while not (Atomic.get wait.over) do
          Unix.sleepf 0.0001
        done;
      accepted || has Accepts_again
    end

  let outcome_of task decision =
    if has Breaks_promise && task.cancelled && !(task.protections) = 0 then
      Error Cancelled
    else Decision.outcome decision

  let suspend (type a) t task (block : a Suspend.resumer -> a option) k =
    if task.cancelled && !(task.protections) = 0 then
      Effect.Deep.discontinue k Cancelled
    else if has Blocks_for_loops && is_of_loop k then
      match suspend_thread block with
      | v -> Effect.Deep.continue k v
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          Effect.Deep.discontinue_with_backtrace k e backtrace
    else begin
      let decision = Decision.create () in
      t.waiting <- t.waiting + 1;
      let has_place = not (has Has_four_places && t.waiting > 4) in
      let leave () =
        t.waiting <- t.waiting - 1;
        task.give_up <- ignore
      in
      let go () =
        leave ();
        in_task t (fun () -> go_on k (outcome_of task decision))
      in
      let wait =
        {
          decision;
          go = once go;
          in_own_block = true;
          over = Atomic.make false;
        }
      in
      let home =
        if has Leaves_inner_current then Option.get (Domain.DLS.get current)
        else t
      in
      let resumer outcome = has_place && resumer home wait outcome in
      let weak = weakly resumer in
      task.give_up <- (fun () -> ignore (weak (Error Cancelled) : bool));
      let block resumer =
        match block resumer with
        | Some _ when has Calls_block_again -> block resumer
        | answer -> answer
      in
      t.in_block <- true;
      let outcome = Decision.offer decision resumer block in
      t.in_block <- false;
      wait.in_own_block <- false;
      if not (Decision.is_undecided outcome) then begin
        (* The exception of [block]. *)
        let backtrace = Printexc.get_raw_backtrace () in
        leave ();
        match outcome with
        | Ok v when has Grows_its_stack ->
            Effect.Deep.continue k v;
            (* So the call before isn't the last one. *)
            t.in_block <- false
        | Ok v -> Effect.Deep.continue k v
        | Error e -> Effect.Deep.discontinue_with_backtrace k e backtrace
      end
    end

  (* --- Tasks ---------------------------------------------------------------- *)

  let cancel task =
    let is_lost = has Loses_protected_cancel && !(task.protections) > 0 in
    if has Forgets_queued_cancel && !(task.protections) = 0 then task.give_up ()
    else if not (task.cancelled || is_lost) then begin
      task.cancelled <- true;
      if !(task.protections) = 0 && not (has Cancels_too_late) then
        task.give_up ()
    end

  let fail t e backtrace =
    match (e, t.failure) with
    | Cancelled, _ | _, Some _ -> ()
    | _, None when has Swallows_late_failures && t.first_ended -> ()
    | _, None ->
        t.failure <- Some (e, backtrace);
        List.iter cancel t.tasks

  let handler t task =
    let effc (type a) (e : a Effect.t) =
      if not (has Takes_any_effect || is_innermost t.host) then
        Some
          (fun (k : (a, unit) Effect.Deep.continuation) ->
            Effect.Deep.discontinue k (Effect.Unhandled e))
      else
        match e with
        | Suspend.Suspend block -> Some (suspend t task block)
        | Suspend.Protect
          when has Ignores_protect
               || (has Protects_no_cancelled_task && task.cancelled) ->
            Some (fun k -> Effect.Deep.continue k ignore)
        | Suspend.Protect when has Ends_all_protects ->
            task.protections := 1;
            Some
              (fun k ->
                Effect.Deep.continue k (fun () -> task.protections := 0))
        | Suspend.Protect ->
            Some
              (fun k ->
                incr task.protections;
                Effect.Deep.continue k (fun () -> decr task.protections))
        | Suspend.Ask { otherwise; _ } ->
            Some (fun k -> Effect.Deep.continue k otherwise)
        | _ -> None
    in
    let leave () = t.tasks <- List.filter (( != ) task) t.tasks in
    let exnc e =
      let backtrace = Printexc.get_raw_backtrace () in
      leave ();
      if not (has Swallows_failures) then fail t e backtrace
    in
    Effect.Deep.{ retc = leave; exnc; effc }

  let begin_task t task f =
    let handler = handler t task in
    if has Has_no_handler then
      match f () with () -> handler.retc () | exception e -> handler.exnc e
    else Effect.Deep.match_with f () handler

  let spawn t f =
    let task =
      {
        cancelled = false;
        protections =
          (if has Counts_protects_together then t.all_protections else ref 0);
        give_up = ignore;
      }
    in
    t.tasks <- task :: t.tasks;
    t.spawns <- t.spawns + 1;
    let number = t.spawns in
    let rec start () =
      if has Starves_while_one_waits && number = 2 && t.waiting > 0 then
        post t start
      else in_task t (fun () -> begin_task t task f)
    in
    if not (has Starves_one_spawned && number = 4) then post t start;
    task

  (* --- The loop ---------------------------------------------------------------- *)

  let serve t () =
    let perform job =
      if has Stops_recording then Printexc.record_backtrace false;
      job ()
    in
    while Inbox.serve t.inbox perform do
      ()
    done

  let wait t block =
    if has Blocks_its_thread then suspend_thread block
    else if has Forgets_one_bell && t.sleeps = 200 then
      Suspend.suspend (fun _ -> None)
    else Suspend.suspend block

  let yield_to_others () =
    Suspend.suspend (fun resumer ->
        ignore (resumer (Ok ()) : bool);
        None)

  let sleep t =
    if has Exits then exit 3;
    if has Crashes then Unix.kill (Unix.getpid ()) Sys.sigsegv;
    t.sleeps <- t.sleeps + 1;
    let announce resumer =
      Atomic.set t.bell resumer;
      let sleeps = Inbox.fall_asleep t.inbox in
      if sleeps || has Sleeps_too_early then None else Some ()
    in
    let rings = has Sleeps_too_early && not (Inbox.is_empty t.inbox) in
    if has Never_sleeps then
      while Inbox.is_empty t.inbox do
        yield_to_others ()
      done
    else if not rings then begin
      if has Sleeps_too_early then Unix.sleepf 0.0001;
      wait t announce
    end;
    Inbox.wake_up t.inbox

  let rec loop t =
    if has Is_never_innermost then serve t () else using t.host (serve t);
    if t.tasks <> [] then begin
      sleep t;
      loop t
    end

  let locked f =
    if has One_at_a_time then Stdlib.Mutex.protect in_turn f else f ()

  (* If its host raises while the loop sleeps, the tasks are cancelled and end. *)
  let loop_until_cancelled t =
    try loop t
    with e when not (has Leaves_its_tasks) ->
      let backtrace = Printexc.get_raw_backtrace () in
      Inbox.wake_up t.inbox;
      if not (has Sleeps_on) then List.iter cancel t.tasks;
      Concord.Tasks.protect (fun () -> loop t);
      Printexc.raise_with_backtrace e backtrace

  let run main =
    locked @@ fun () ->
    let t =
      {
        host = create ();
        inbox = Inbox.create ();
        bell = Atomic.make (fun _ -> false);
        tasks = [];
        failure = None;
        thread = self ();
        in_task = false;
        in_block = false;
        waiting = 0;
        own = 0;
        sleeps = 0;
        spawns = 0;
        resumptions = 0;
        all_protections = ref 0;
        lock = Stdlib.Mutex.create ();
        first_ended = false;
        ended = Atomic.make false;
      }
    in
    let result = ref None in
    let first () =
      match main t with
      | v -> result := Some (Ok v)
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          result := Some (Error (e, backtrace));
          fail t e backtrace
    in
    let first () =
      first ();
      t.first_ended <- true
    in
    Domain.DLS.set current (Some t);
    ignore (spawn t first : task);
    loop_until_cancelled t;
    Atomic.set t.ended true;
    match (t.failure, !result) with
    | Some (e, _), _ when has Loses_backtrace -> raise e
    | Some (e, backtrace), _ | None, Some (Error (e, backtrace)) ->
        Printexc.raise_with_backtrace e backtrace
    | None, Some (Ok v) -> v
    | None, None -> assert false (* the first task has ended *)
end

let host ?fault ?(not_offered = []) name : (module Concord_testkit.Host.HOST) =
  (module struct
    include Make (struct
      let has f = fault = Some f
    end)

    let name = name

    type t = loop
    type nonrec task = task

    let yield = Concord.Tasks.yield
    let cancel = Some (fun _ task -> cancel task)
    let is_cancellation = function Cancelled -> true | _ -> false
    let not_offered = not_offered
  end)
