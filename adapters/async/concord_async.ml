module Deferred = Async.Deferred
module Ivar = Async.Ivar
module Monitor = Async.Monitor
module Scheduler = Async_kernel.Async_kernel_scheduler
module Suspend = Concord.Suspend

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

(* [decided], where resuming and not waiting decide (H3)

   State  Left by  To    By whom
   false  resumer  true  anyone; a wake that fills [resumed] is posted in the same step
          others   true  Async's thread: [block] gave a value or raised
   true   never (terminal) *)
let decide decided = Atomic.compare_and_set decided false true

let suspend block go_on =
  let decided = Atomic.make false in
  let resumed = Ivar.create () in
  let resumer outcome = Inbox.resume decided resumed outcome in
  let wait () = Deferred.bind (Ivar.read resumed) ~f:go_on in
  let at_once outcome = if decide decided then go_on outcome else wait () in
  match block resumer with
  | Some v -> at_once (Ok v)
  | exception e -> at_once (Error e)
  | None -> wait ()

(* --- Direct style, outside of [direct] ------------------------------------ *)

(* In a job, which cannot be suspended. [outcome] is where resuming and refusing
   decide. *)
let refuse (type a) (block : a Suspend.resumer -> a option) : a =
  let outcome = Atomic.make None in
  let resumer result = Atomic.compare_and_set outcome None (Some result) in
  match block resumer with
  | Some v -> v
  | None -> (
      if resumer (Error In_job) then Suspend.Host.refuse In_job
      else
        match Atomic.get outcome with
        | Some (Ok v) -> v
        | Some (Error e) -> raise e
        | None -> assert false (* somebody was faster *))

let host = Suspend.Host.create ()
let this_thread () = Thread.id (Thread.self ())

(* The thread that is in [go]. *)
let nobody = -1
let going = Atomic.make nobody

let go ?raise_unhandled_exn () =
  Atomic.set going (this_thread ());
  Suspend.Host.using ~outside:refuse host (fun () ->
      Async.Scheduler.go ?raise_unhandled_exn ())

(* Code of Async in other threads than [go]'s, and if Async was started otherwise: it
   would park its thread, and Async with it. *)
let () =
  let or_elsewhere f x =
    if Inbox.is_in_async () then f x else raise_notrace Suspend.Host.Elsewhere
  in
  Suspend.Host.plug_in
    {
      name = "async";
      sample = None;
      takes_every_effect = false;
      suspend = (fun block -> or_elsewhere refuse block);
      protect = (fun f -> or_elsewhere f ());
      scopes = None;
    }

(* --- The structures ------------------------------------------------------- *)

(* They are also called by threads that must not touch Async's state. There what need
   not wait is done, and what fails raises. *)
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
