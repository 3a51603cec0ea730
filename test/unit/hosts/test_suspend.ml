open Concord
open Concord.Tools
open Concord_test_support
open Check
module Fifo = Concord_fifo

exception Boom

(* --- Users of Domain_local_await -------------------------------------------- *)

let trigger () =
  traced [ "a waits"; "b releases"; "a released" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let t = Domain_local_await.prepare_for_await () in
  let task () =
    say "a waits";
    t.await ();
    say "a released"
  in
  ignore (Fifo.fork task : Fifo.handle);
  say "b releases";
  t.release ();
  t.release ()

let trigger_released_before () =
  Fifo.run @@ fun () ->
  let t = Domain_local_await.prepare_for_await () in
  t.release ();
  t.await ();
  let t = Domain_local_await.prepare_for_await () in
  beside t.release t.await

let trigger_cancelled () =
  Fifo.run @@ fun () ->
  let t = Domain_local_await.prepare_for_await () in
  let h = Fifo.fork (fun () -> raises "await" Fifo.Cancelled t.await) in
  Fifo.cancel h;
  Fifo.join h;
  t.release ()

(* A signal handler raises when the task is about to be resumed. *)
let trigger_interrupted () =
  let waiting = ref None and interrupt = ref true and ended = ref false in
  let handle (type a) (e : a Effect.t) :
      ((a, unit) Effect.Deep.continuation -> unit) option =
    match e with
    | Suspend.Suspend block ->
        Some
          (fun k ->
            let resumer outcome =
              if !interrupt then begin
                interrupt := false;
                raise Boom
              end;
              Effect.Deep.continue k (Result.get_ok outcome);
              true
            in
            yes "it waits" (block resumer = None))
    | _ -> None
  in
  let task () =
    Host_kit.using (Host_kit.create ()) @@ fun () ->
    let t = Domain_local_await.prepare_for_await () in
    waiting := Some t;
    t.await ();
    ended := true
  in
  Effect.Deep.try_with task () { effc = handle };
  raises "release" Boom (Option.get !waiting).release;
  yes "it was resumed nevertheless" !ended

let kcas () =
  traced [ "a waits"; "b sets"; "a saw 1" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let loc = Kcas.Loc.make 0 in
  let positive v = if v = 0 then Kcas.Retry.later () else v in
  let task () =
    say "a waits";
    say (Printf.sprintf "a saw %d" (Kcas.Loc.get_as positive loc))
  in
  ignore (Fifo.fork task : Fifo.handle);
  say "b sets";
  Kcas.Loc.set loc 1

let kcas_transaction () =
  let a = Kcas.Loc.make 0 and b = Kcas.Loc.make 0 in
  let both ~xt =
    let v = Kcas.Xt.get ~xt a + Kcas.Xt.get ~xt b in
    if v < 2 then Kcas.Retry.later () else v
  in
  Fifo.run @@ fun () ->
  let sum = Fifo.fork_promise (fun () -> Kcas.Xt.commit { tx = both }) in
  Kcas.Loc.set a 1;
  Fifo.yield ();
  no "it still waits" (Promise.is_resolved sum);
  in_domain (fun () -> Kcas.Loc.set b 1);
  int "sum" 2 (Promise.await sum)

(* --- An unhandled effect of another wait -------------------------------------- *)

(* The host ends a wait with the exception that another wait's effect was unhandled. It does
   so before or after it has called [block]. *)
let foreign_unhandled ~calls_block () =
  let other = Effect.Unhandled (Suspend.Suspend (fun _ -> Some ())) in
  let effc : type a.
      a Effect.t -> ((a, unit) Effect.Deep.continuation -> unit) option =
    function
    | Suspend.Suspend block ->
        Some
          (fun k ->
            if calls_block then ignore (block (fun _ -> false) : a option);
            Effect.Deep.discontinue k other)
    | _ -> None
  in
  let box = Mvar.create_empty () in
  Effect.Deep.try_with
    (fun () ->
      match Mvar.take box with
      | (_ : int) -> Alcotest.fail "the wait did not raise"
      | exception e -> yes "the host's exception" (e == other))
    () { effc };
  int "no task waits" 0 (Mvar.waiters box)

(* --- A signal handler raises while a task lets others run ---------------------- *)

(* The resumer has resumed the task and then raises the exception of a signal handler. *)
let yield_interrupted () =
  let effc : type a.
      a Effect.t -> ((a, unit) Effect.Deep.continuation -> unit) option =
    function
    | Suspend.Suspend block ->
        Some
          (fun k ->
            let resumed = ref None in
            let resumer outcome =
              resumed := Some outcome;
              raise Boom
            in
            let given = block resumer in
            match (given, !resumed) with
            | None, Some (Ok v) -> Effect.Deep.continue k v
            | _ -> Alcotest.fail "block did not wait")
    | _ -> None
  in
  Effect.Deep.try_with Tasks.yield () { effc };
  raises "the thread's next wait" Boom (fun () ->
      Promise.await (Promise.create ()))

let () =
  run "Suspend"
    [
      ( "unhandled",
        [
          test "an effect of another wait, before block is called"
            (foreign_unhandled ~calls_block:false);
          test "an effect of another wait, after block is called"
            (foreign_unhandled ~calls_block:true);
        ] );
      ( "a turn for others",
        [ test "its resumer is interrupted" yield_interrupted ] );
      ( "Domain_local_await in Fifo",
        [
          test "a trigger suspends the task only" trigger;
          test "a trigger that was released before" trigger_released_before;
          test "a waiting task is cancelled" trigger_cancelled;
          test "a signal handler raises in release" trigger_interrupted;
          test "Kcas.Loc: retry suspends the task only" kcas;
          test "Kcas.Xt: retry suspends the task only" kcas_transaction;
        ] );
    ]
