module Suspend = Concord.Suspend

exception In_callback

let () =
  Printexc.register_printer (function
    | In_callback ->
        Some
          "Concord_lwt.In_callback: a direct-style operation has to wait, but \
           was called in a callback of Lwt, which cannot; use the operation of \
           that name in Concord_lwt (Concord_lwt.Mvar.take for Mvar.take, \
           Concord_lwt.sync for Event.sync), or run the code in \
           Concord_lwt.direct or Lwt_direct.spawn"
    | _ -> None)

(* --- One wait ------------------------------------------------------------- *)

(* [wait], where resuming and cancelling decide (H3)

   State       Left by  To          By whom
   undecided   resumer  an outcome  anyone; who then has the promise woken with it
               others   an outcome  Lwt's thread: [block] gave a value or raised, or
                                    [Lwt.cancel] rejected the promise
   an outcome  never (terminal)

   [Lwt.cancel] can reject the promise although an outcome was promised, and has not
   arrived yet. So it is looked for here before the task goes on. *)

(* Nobody else has this exception, nor this block. *)
exception Undecided

let undecided = Error Undecided
let decide wait outcome = Atomic.compare_and_set wait undecided outcome

let[@inline] resumer wait waker result outcome =
  decide wait outcome
  && begin
    Loop.wake waker result outcome;
    true
  end

(* What was decided, or else this. *)
let outcome wait otherwise =
  if decide wait otherwise then otherwise else Atomic.get wait

(* The promise was rejected, perhaps by [Lwt.cancel]. *)
let rejected wait e =
  if decide wait (Error e) then Loop.end_wait ();
  outcome wait (Error e)

let suspend ~protected block go_on =
  let wait = Atomic.make undecided in
  let woken, waker = if protected then Lwt.wait () else Lwt.task () in
  match block (fun outcome -> resumer wait waker Fun.id outcome) with
  | Some v -> go_on (outcome wait (Ok v))
  | exception e -> go_on (outcome wait (Error e))
  | None ->
      Loop.begin_wait ();
      Lwt.try_bind
        (fun () -> woken)
        (fun v -> go_on (Ok v))
        (fun e -> go_on (rejected wait e))

let conclude operation t w result = function
  | Ok v -> Lwt.return (result v)
  | Error e ->
      Suspend.withdraw operation t w;
      Lwt.fail e

(* As [suspend], with less between Lwt and the structure: what was promised is the
   value of the promise as it is. *)
let wait operation t w result =
  let wait = Atomic.make undecided in
  let woken, waker = Lwt.task () in
  match
    Suspend.block operation t w (fun outcome ->
        resumer wait waker result outcome)
  with
  | Some v -> conclude operation t w result (outcome wait (Ok v))
  | exception e -> conclude operation t w result (outcome wait (Error e))
  | None ->
      Loop.begin_wait ();
      Lwt.catch
        (fun () -> woken)
        (fun e -> conclude operation t w result (rejected wait e))

(* --- Direct style, outside of [direct] ------------------------------------ *)

let host = Suspend.Host.create ()

(* In a task of [Lwt_direct], which is suspended by its own effect. In a plain
   callback nothing handles that. *)
let outside block =
  let wait = Atomic.make undecided in
  let woken, waker = Lwt.wait () in
  let outcome =
    match block (fun outcome -> resumer wait waker Fun.id outcome) with
    | Some () ->
        (* It shows who its host is: see [Suspend.reach_host]. *)
        (try Lwt_direct.yield () with Effect.Unhandled _ -> ());
        outcome wait (Ok ())
    | None -> (
        Loop.begin_wait ();
        match Lwt_direct.await woken with
        | () -> Ok ()
        | exception Effect.Unhandled _ -> rejected wait In_callback
        | exception e -> Error e)
  in
  match outcome with Ok () -> () | Error e -> raise e

let no_key : unit Lwt.key = Lwt.new_key ()

include Concord.Monadic.Make_with_wait (struct
  type 'a t = 'a Lwt.t

  let return = Lwt.return
  let fail e (_ : Printexc.raw_backtrace) = Lwt.fail e
  let bind = Lwt.bind
  let try_bind = Lwt.try_bind
  let enter = Loop.enter
  let suspend = suspend
  let wait = wait

  (* [Lwt.with_value] puts all of the storage back. *)
  let isolate f = Lwt.with_value no_key None f
  let host () = if Loop.is_running () then Some host else None
end)

(* A task of [Lwt_direct] that was woken by others runs just before the loop waits for
   the kernel. If it ends the last promise, nothing else ends that wait. *)
let do_not_wait () = ignore (Lwt.pause () : unit Lwt.t)

let run f =
  Loop.run @@ fun () ->
  Suspend.Host.using ~outside host @@ fun () ->
  let main = f () in
  Lwt.on_termination main do_not_wait;
  Lwt_main.run main

(* --- Promises ------------------------------------------------------------- *)

let to_lwt = Promise.await

let of_lwt lwt =
  Loop.enter ();
  let promise = Concord.Promise.create () in
  Lwt.on_any lwt
    (fun v -> ignore (Promise.try_fill promise v : bool))
    (fun e -> ignore (Promise.try_fail promise e : bool));
  promise
