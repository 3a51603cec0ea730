module Event = Concord.Event
module Mailbox = Concord.Mailbox
module Promise = Concord.Promise
module Keeper = Concord.Private.Keeper

exception No_loop

let () =
  Printexc.register_printer (function
    | No_loop ->
        Some
          "Concord_eio.No_loop: Concord_eio.with_domain ended before this call \
           could run, or while it ran"
    | _ -> None)

(* Why a call's fiber is cancelled. *)
exception Stopped

(* [run sw] forks the call's fiber, unless the call was cancelled or comes too late. [refuse ()]
   does nothing if the call has ended. *)
type message = { run : Eio.Switch.t -> unit; refuse : unit -> unit }

(* [calls] counts the calls that are in the inbox or run. Any domain increments it. The loop's
   domain decrements it, and then signals [ended]. Only the loop's domain uses the other fields.
   [running] has the [refuse] of each call whose fiber runs. *)
type jobs = {
  inbox : message Mailbox.t;
  calls : int Atomic.t;
  ended : Eio.Condition.t;
  mutable is_open : bool;
  mutable begun : int;
  running : (int, unit -> unit) Hashtbl.t;
}

type 'r t = { value : 'r; jobs : jobs }

let make_jobs () =
  {
    inbox = Mailbox.create ();
    calls = Atomic.make 0;
    ended = Eio.Condition.create ();
    is_open = true;
    begun = 0;
    running = Hashtbl.create 8;
  }

let post jobs message =
  match Mailbox.add jobs.inbox message with
  | () -> ()
  | exception Mailbox.Closed -> message.refuse ()

let one_less jobs =
  ignore (Atomic.fetch_and_add jobs.calls (-1) : int);
  Eio.Condition.broadcast jobs.ended

let fork_in jobs sw ~refuse f =
  jobs.begun <- jobs.begun + 1;
  let id = jobs.begun in
  Hashtbl.replace jobs.running id refuse;
  Eio.Fiber.fork ~sw (fun () ->
      f ();
      Hashtbl.remove jobs.running id;
      one_less jobs)

(* A fiber of a switch that is off is never called. *)
let can_fork jobs sw = jobs.is_open && Option.is_none (Eio.Switch.get_error sw)

(* If the loop ends, it cancels the fiber, but not the caller, which therefore must not get Eio's
   exception. *)
let outcome_of jobs sw f =
  match f () with
  | v -> Ok v
  | exception Eio.Cancel.Cancelled _ when not (can_fork jobs sw) ->
      Error (No_loop, Printexc.get_callstack 0)
  | exception e -> Error (e, Printexc.get_raw_backtrace ())

let settle promise = function
  | Ok v -> ignore (Promise.try_fill promise v : bool)
  | Error (e, backtrace) ->
      ignore (Promise.try_fail ~backtrace promise e : bool)

let is_answer = function
  | Ok _ -> true
  | Error (Eio.Cancel.Cancelled _ | No_loop) -> false
  | Error _ -> true

let call { value; jobs } f =
  let f = Concord.Private.Locals.carry f in
  (* Only the loop's domain uses it. *)
  let context = ref None in
  let in_context () =
    Eio.Cancel.sub (fun cancellation ->
        context := Some cancellation;
        Fun.protect (fun () -> f value) ~finally:(fun () -> context := None))
  in
  let post_call promise ~begins =
    let refuse () = ignore (Promise.try_fail promise No_loop : bool) in
    let run sw =
      if can_fork jobs sw && begins () then
        fork_in jobs sw ~refuse (fun () ->
            settle promise (outcome_of jobs sw in_context))
      else begin
        refuse ();
        one_less jobs
      end
    in
    let message = { run; refuse } in
    ignore (Atomic.fetch_and_add jobs.calls 1 : int);
    post jobs message
  and cancel () =
    let run (_ : Eio.Switch.t) =
      Option.iter (fun it -> Eio.Cancel.cancel it Stopped) !context
    in
    post jobs { run; refuse = ignore }
  in
  Concord.Private.Stopping.call ~cancelled:(Eio.Cancel.Cancelled Stopped)
    ~is_answer ~post:post_call ~cancel

(* --- In the loop ------------------------------------------------------------ *)

let within seconds f =
  if seconds = Float.infinity then begin
    f ();
    true
  end
  else
    Eio.Fiber.first
      (fun () ->
        f ();
        true)
      (fun () ->
        Event.sync (Event.timeout seconds);
        false)

let close jobs =
  jobs.is_open <- false;
  Mailbox.close jobs.inbox;
  List.iter (fun message -> message.refuse ()) (Mailbox.drain jobs.inbox)

let unlisted =
  { Concord.Private.Reach.suspend = Concord.Private.Reach.suspend_unlisted }

(* Reports don't list this wait, because the fiber isn't one of the program's. Only while waits
   are kept, the fiber doesn't spin before it waits. *)
let take_message inbox =
  match Event.simple (Mailbox.take_evt inbox) with
  | Some (Simple { operation; structure; arg; result })
    when Concord.Private.Observer.are_kept () ->
      result
        (Concord.Private.Operation.suspend_by unlisted operation structure arg)
  | Some _ | None -> Mailbox.take inbox

let rec serve_messages jobs sw =
  match take_message jobs.inbox with
  | message ->
      message.run sw;
      serve_messages jobs sw
  | exception Mailbox.Closed -> ()

(* No fiber of the loop runs between the last look and [close], so no call begins in between. *)
let rec close_when_idle jobs =
  if Atomic.get jobs.calls > 0 then begin
    Eio.Condition.await_no_mutex jobs.ended;
    close_when_idle jobs
  end
  else close jobs

let rec await_running jobs =
  if Hashtbl.length jobs.running > 0 then begin
    Eio.Condition.await_no_mutex jobs.ended;
    await_running jobs
  end

let refuse_running jobs = Hashtbl.iter (fun _ refuse -> refuse ()) jobs.running

(* If the time is over just when the last call has ended, [close_when_idle] may have closed the
   inbox nevertheless. Then the switch may be off already, and no call is left. *)
let end_jobs jobs sw ~grace ~over =
  if not (within grace (fun () -> close_when_idle jobs) || not jobs.is_open)
  then begin
    close jobs;
    Eio.Switch.fail sw Stopped;
    if not (within grace (fun () -> await_running jobs)) then begin
      refuse_running jobs;
      ignore (Promise.try_fill over () : bool)
    end
  end

let run_jobs jobs ~grace ~over ~ready keeper =
  let switch, has_switch = Eio.Promise.create () in
  Eio.Fiber.both
    (fun () ->
      try
        Eio.Switch.run (fun sw ->
            Eio.Promise.resolve has_switch sw;
            ready ();
            serve_messages jobs sw)
      with Stopped -> ())
    (fun () ->
      Keeper.wait_to_leave keeper;
      end_jobs jobs (Eio.Promise.await switch) ~grace ~over)

let create_unless_left keeper create =
  Eio.Fiber.first
    (fun () -> Some (create ()))
    (fun () ->
      Keeper.wait_to_leave keeper;
      None)

(* What [create] has forked is cancelled from outside of its switch: if the switch itself failed
   with [Stopped], a fiber that fails at that moment would give the user both exceptions. *)
let serve jobs ~grace create env ({ Keeper.ready; over; _ } as keeper) =
  let with_resources cancellation =
    Eio.Switch.run @@ fun sw ->
    match create_unless_left keeper (fun () -> create ~sw env) with
    | None -> ()
    | Some value ->
        let ready () = Promise.fill ready { value; jobs } in
        run_jobs jobs ~grace ~over ~ready keeper;
        Eio.Cancel.cancel cancellation Stopped
  in
  try Eio.Cancel.sub with_resources with Eio.Cancel.Cancelled Stopped -> ()

(* --- The thread that has the domain ------------------------------------------ *)

let with_domain ?(grace = 10.) run create f =
  Keeper.check_grace "Concord_eio.with_domain" grace;
  let jobs = make_jobs () in
  (* If the loop fails, it leaves fibers behind. *)
  let ended (_ : _ Keeper.t) =
    close jobs;
    refuse_running jobs
  in
  Keeper.with_loop ~no_loop:No_loop ~ended
    (fun keeper -> run (fun env -> serve jobs ~grace create env keeper))
    f
