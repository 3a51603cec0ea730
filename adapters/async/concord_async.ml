module Deferred = Async.Deferred
module Ivar = Async.Ivar
module Monitor = Async.Monitor
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
   false  resumer  true  anyone; who then posts that [resumed] is to be filled
          others   true  Async's thread: [block] gave a value or raised
   true   never (terminal) *)
let suspend block go_on =
  let decided = Atomic.make false in
  let decide () = not (Atomic.exchange decided true) in
  let resumed = Ivar.create () in
  let resumer outcome =
    decide ()
    && begin
      Inbox.post (fun () -> Ivar.fill_exn resumed outcome);
      true
    end
  in
  let wait () = Deferred.bind (Ivar.read resumed) ~f:go_on in
  let at_once outcome = if decide () then go_on outcome else wait () in
  match block resumer with
  | Some v -> at_once (Ok v)
  | exception e -> at_once (Error e)
  | None -> wait ()

(* --- Direct style, outside of [direct] ------------------------------------ *)

let host = Suspend.Host.create ()
let this_thread () = Thread.id (Thread.self ())

(* The thread that is in [go]. *)
let nobody = -1
let going = Atomic.make nobody

(* In a job, which cannot be suspended. *)
let outside block =
  let decided = Atomic.make false in
  let decide () = not (Atomic.exchange decided true) in
  match block (fun _ -> decide ()) with
  | Some () -> ()
  | None -> if decide () then raise In_job

let go ?raise_unhandled_exn () =
  Atomic.set going (this_thread ());
  Suspend.Host.using ~outside host (fun () ->
      Async.Scheduler.go ?raise_unhandled_exn ())

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

  let enter = Inbox.enter
  let suspend ~protected:_ block go_on = suspend block go_on
  let isolate f = f ()
  let host () = if Atomic.get going = this_thread () then Some host else None
end)

(* --- Promises ------------------------------------------------------------- *)

let to_deferred = Promise.await

let of_deferred deferred =
  Inbox.enter ();
  let promise = Concord.Promise.create () in
  Deferred.upon deferred (fun v -> ignore (Promise.try_fill promise v : bool));
  promise
