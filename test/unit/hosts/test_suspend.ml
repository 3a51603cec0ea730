open Concord
open Concord.Tools
open Concord_test_support
open Concord_test_hosts
open Check
module Fifo = Concord_fifo

exception Boom

let eio f = Eio_main.run (fun _ -> f ())

(* --- A scheduler of a third party ------------------------------------------- *)

let mini_tasks () =
  traced [ "a waits"; "b puts"; "a took 1" ] @@ fun say ->
  let box = Mvar.create_empty () in
  Mini.run
    [
      (fun () ->
        say "a waits";
        say (Printf.sprintf "a took %d" (Mvar.take box)));
      (fun () ->
        say "b puts";
        Mvar.put box 1);
    ]

let mini_and_others () =
  let box = Mvar.create_empty () and n = 200 in
  let put () =
    for i = 1 to n do
      Mvar.put box i
    done
  in
  let sum = ref 0 in
  let take () =
    for _ = 1 to n do
      sum := !sum + Mvar.take box
    done
  in
  let domain = Domain.spawn (fun () -> Fifo.run put) in
  beside (fun () -> eio put) (fun () -> Mini.run [ take; take ]);
  Domain.join domain;
  int "every value arrives once" (n * (n + 1)) !sum

let mini_in_fifo () =
  traced [ "waits"; "fifo continues"; "resumed" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let p = Promise.create () in
  let task () =
    Mini.run
      [
        (fun () ->
          say "waits";
          Promise.await p;
          say "resumed");
      ]
  in
  (* Mini blocks its thread, so another thread has to fill the promise. *)
  let filler =
    Thread.create
      (fun () ->
        eventually "it waits" (fun () -> Promise.waiters p = 1);
        say "fifo continues";
        Promise.fill p ())
      ()
  in
  task ();
  Thread.join filler

let fifo_in_mini () =
  traced [ "fifo waits"; "mini continues"; "fifo resumed" ] @@ fun say ->
  let p = Promise.create () in
  Mini.run
    [
      (fun () ->
        Fifo.run (fun () ->
            say "fifo waits";
            Promise.await p;
            say "fifo resumed"));
      (fun () ->
        say "mini continues";
        Promise.fill p ());
    ]

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

(* The effect is unhandled, so the thread waits. *)
let own_unhandled () =
  let box = Mvar.create_empty () in
  beside
    (fun () -> Mvar.put box 1)
    (fun () -> int "taken by a thread" 1 (Mvar.take box))

let () =
  run "Suspend"
    [
      ( "a third party's scheduler",
        [
          test "its tasks wait for each other" mini_tasks;
          test "and for those of Eio and Fifo" mini_and_others;
          test "in a task of Fifo" mini_in_fifo;
          test "Fifo in one of its tasks" fifo_in_mini;
        ] );
      ( "unhandled",
        [
          test "an effect of another wait, before block is called"
            (foreign_unhandled ~calls_block:false);
          test "an effect of another wait, after block is called"
            (foreign_unhandled ~calls_block:true);
          test "one's own" own_unhandled;
        ] );
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
