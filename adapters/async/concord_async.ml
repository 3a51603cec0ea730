module Deferred = Async.Deferred
module Ivar = Async.Ivar
module Monitor = Async.Monitor
module Scheduler = Async_kernel.Async_kernel_scheduler
module Suspend = Concord.Suspend
module Host_kit = Concord.Host_kit
module Decision = Host_kit.Decision

exception In_job

let () =
  Printexc.register_printer (function
    | In_job ->
        Some
          "Concord_async.In_job: a direct-style operation has to wait, but was \
           called in a job of Async, which cannot; use the operation of that \
           name in Concord_async (Concord_async.Mvar.take for Mvar.take, \
           Concord_async.sync for Event.sync), or run the code in \
           Concord_async.direct"
    | _ -> None)

(* --- One wait ------------------------------------------------------------- *)

let suspend block go_on =
  let decision = Decision.create () in
  let resumed = Ivar.create () in
  let resumer outcome = Inbox.resume decision resumed outcome in
  let outcome = Decision.offer decision resumer block in
  if Decision.is_undecided outcome then
    Deferred.bind (Ivar.read resumed) ~f:go_on
  else go_on outcome

(* --- Direct style, outside of [direct] ------------------------------------ *)

(* For a job, which cannot be suspended. *)
let refuse (type a) (block : a Suspend.resumer -> a option) : a =
  let decision = Decision.create () in
  let decide = Decision.decide decision in
  match Decision.offer decision decide block with
  | Ok v -> v
  | Error _ as outcome when Decision.is_undecided outcome -> (
      if decide (Error In_job) then Host_kit.refuse In_job
      else match Decision.outcome decision with Ok v -> v | Error e -> raise e)
  | Error e ->
      (* [block] raised it *)
      Printexc.raise_with_backtrace e (Printexc.get_raw_backtrace ())

let host = Host_kit.create ()
let this_thread () = Thread.id (Thread.self ())

(* Of the thread that is in [go]. *)
let no_thread = -1
let going = Atomic.make no_thread

let go ?raise_unhandled_exn () =
  Atomic.set going (this_thread ());
  Host_kit.using ~outside:refuse host (fun () ->
      Async.Scheduler.go ?raise_unhandled_exn ())

(* For code of Async in other threads than [go]'s, and for an Async that was started
   otherwise: such code would park its thread, and Async with it. *)
let () =
  let or_elsewhere f x =
    if Inbox.is_in_async () then f x else raise_notrace Host_kit.Elsewhere
  in
  Host_kit.plug_in
    {
      name = "async";
      sample = None;
      takes_every_effect = false;
      suspend = (fun block -> or_elsewhere refuse block);
      protect = (fun f -> or_elsewhere f ());
      scopes = None;
    }

(* --- The structures ------------------------------------------------------- *)

(* Threads that must not touch Async's state may call them too. There an operation that
   need not wait is done, and one that fails raises. *)
include Concord.Monadic.Make (struct
  type 'a t = 'a Deferred.t

  let return = Deferred.return

  let fail e backtrace =
    if Inbox.is_here () then begin
      Monitor.send_exn (Monitor.current ()) e ~backtrace:(`This backtrace);
      Deferred.never ()
    end
    else Printexc.raise_with_backtrace e backtrace

  let bind t f =
    match Deferred.peek t with Some v -> f v | None -> Deferred.bind t ~f

  let try_bind f return fail =
    match Inbox.enter () with
    | exception e -> fail e
    | () ->
        Deferred.bind (Monitor.try_with ~run:`Now ~rest:`Raise f) ~f:(function
          | Ok v -> return v
          | Error e -> fail e)

  (* Async has no cancellation. However many jobs are ready, it serves timers and input
     between its cycles. *)
  let enter = Inbox.enter
  let suspend ~protected:_ block go_on = suspend block go_on

  (* [f] may have changed the context, and be suspended before it restores it. *)
  let isolate f =
    if Inbox.is_here () then begin
      let context = Scheduler.current_execution_context () in
      let restore () = Scheduler.Expert.set_execution_context context in
      match f () with
      | t ->
          restore ();
          t
      | exception e ->
          let backtrace = Printexc.get_raw_backtrace () in
          restore ();
          Printexc.raise_with_backtrace e backtrace
    end
    else f ()

  let host () = if Atomic.get going = this_thread () then Some host else None
end)

(* --- Promises ------------------------------------------------------------- *)

let to_deferred = Promise.await

let of_deferred deferred =
  Inbox.enter ();
  let promise = Concord.Promise.create () in
  Deferred.upon deferred (fun v -> ignore (Promise.try_fill promise v : bool));
  promise
