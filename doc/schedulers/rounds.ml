open Concord
open Concord.Tools
open Host_kit

exception Cancelled

type task = {
  mutable cancelled : bool;
  mutable protections : int;
  mutable give_up : unit -> unit;
  ended : unit Promise.t;
}

type t = {
  host : Host_kit.t;
  inbox : (unit -> unit) Inbox.t;
  spin : Spin.t;
  bell : unit Suspend.resumer Atomic.t;
  mutable tasks : task list;
  mutable failure : (exn * Printexc.raw_backtrace) option;
  mutable outside : (unit -> unit) list; (* must run outside [using] *)
}

(* If a signal handler raises, a message may be served twice. The second time it does
   nothing. *)
let once job =
  let job = ref job in
  fun () ->
    let f = !job in
    job := ignore;
    f ()

let wake t () = ignore ((Atomic.get t.bell) (Ok ()) : bool)

let post t job =
  match Inbox.post t.inbox (once job) with
  | Refused | Posted -> ()
  | Posted_to_sleeper -> wake t ()

let cancel_now task =
  if not task.cancelled then begin
    task.cancelled <- true;
    if task.protections = 0 then task.give_up ()
  end

let cancel t task = post t (fun () -> cancel_now task)

let go_on k = function
  | Ok v -> Effect.Deep.continue k v
  | Error e -> Effect.Deep.discontinue k e

let suspend t task block k =
  if task.cancelled && task.protections = 0 then
    Effect.Deep.discontinue k Cancelled
  else begin
    let decision = Decision.create () in
    let turn =
      once (fun () ->
          task.give_up <- ignore;
          go_on k (Decision.outcome decision))
    in
    let resumer =
      Inbox.resumer t.inbox ~wake:(wake t) decision (fun _ -> turn)
    in
    let weak = weakly resumer in
    task.give_up <- (fun () -> ignore (weak (Error Cancelled) : bool));
    let outcome = Decision.offer decision resumer block in
    if not (Decision.is_undecided outcome) then begin
      task.give_up <- ignore;
      go_on k outcome
    end
  end

let perform_outside t e k =
  t.outside <-
    (fun () ->
      let outcome = try Ok (Effect.perform e) with e -> Error e in
      post t (fun () -> go_on k outcome))
    :: t.outside

let handler t task =
  let effc (type a) (e : a Effect.t) =
    if not (is_innermost t.host) then
      Some
        (fun (k : (a, unit) Effect.Deep.continuation) ->
          Effect.Deep.discontinue k (Effect.Unhandled e))
    else
      match e with
      | Suspend.Suspend block -> Some (suspend t task block)
      | Suspend.Protect ->
          Some
            (fun k ->
              task.protections <- task.protections + 1;
              Effect.Deep.continue k (fun () ->
                  task.protections <- task.protections - 1))
      | Suspend.Ask { question; otherwise } ->
          let who () = Who.make ~host:"turns" ~name:"a task" task in
          Some
            (fun k ->
              Effect.Deep.continue k (Who.answer question ~otherwise who))
      | e -> Some (perform_outside t e)
  in
  let leave () = t.tasks <- List.filter (fun other -> other != task) t.tasks in
  {
    Effect.Deep.retc =
      (fun () ->
        leave ();
        Promise.fill task.ended ());
    exnc =
      (fun e ->
        let backtrace = Printexc.get_raw_backtrace () in
        leave ();
        Promise.fail ~backtrace task.ended e;
        match (e, t.failure) with
        | Cancelled, _ | _, Some _ -> ()
        | _, None ->
            t.failure <- Some (e, backtrace);
            List.iter cancel_now t.tasks);
    effc;
  }

(* Called in a task, or before the loop begins. *)
let fork t f =
  let task =
    {
      cancelled = false;
      protections = 0;
      give_up = ignore;
      ended = Promise.create ();
    }
  in
  t.tasks <- task :: t.tasks;
  post t (fun () -> Effect.Deep.match_with f () (handler t task));
  task

let join task = Promise.await task.ended

let serve t () =
  while t.outside = [] && Inbox.serve t.inbox (fun job -> job ()) do
    ()
  done

let is_ready t () = not (Inbox.is_empty t.inbox)

let sleep t =
  Suspend.suspend (fun resumer ->
      Atomic.set t.bell resumer;
      if Inbox.fall_asleep t.inbox then None else Some ());
  Inbox.wake_up t.inbox

let rec loop t =
  using t.host (serve t);
  let outside = t.outside in
  t.outside <- [];
  List.iter (fun f -> f ()) outside;
  if t.tasks <> [] then begin
    if not (is_ready t () || Spin.until t.spin (is_ready t)) then sleep t;
    loop t
  end

let run main =
  let t =
    {
      host = create ();
      inbox = Inbox.create ();
      spin = Spin.create ();
      bell = Atomic.make (fun _ -> false);
      tasks = [];
      failure = None;
      outside = [];
    }
  in
  ignore (fork t (fun () -> main t) : task);
  (try loop t
   with e ->
     (* the host's cancellation, or the exception of a signal handler *)
     let backtrace = Printexc.get_raw_backtrace () in
     Inbox.wake_up t.inbox;
     List.iter cancel_now t.tasks;
     Tasks.protect (fun () -> loop t);
     Printexc.raise_with_backtrace e backtrace);
  match t.failure with
  | Some (e, backtrace) -> Printexc.raise_with_backtrace e backtrace
  | None -> ()
