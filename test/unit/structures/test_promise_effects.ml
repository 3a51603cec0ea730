(* Functions that are called when a promise is resolved can't perform effects. No handler
   may get them, whichever task resolves the promise. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
module Fifo = Concord_fifo

type _ Effect.t += Mine : int Effect.t

(* Runs [f] in functions of [map] and [on_resolve]. They are called at once, or by the task
   that fills the promise. *)
let refused what f =
  let told = function
    | Invalid_argument text ->
        yes (what ^ ": whose fault") (contains text "Promise.on_resolve or map");
        yes (what ^ ": what to do") (contains text "fork a task that awaits")
    | e -> Alcotest.failf "%s: it raised %s" what (Printexc.to_string e)
  in
  let p = Promise.create () in
  let mapped = Promise.map f p in
  Promise.on_resolve p (fun _ -> f ());
  (match Promise.fill p () with
  | () -> Alcotest.failf "%s: it is not refused" what
  | exception e -> told e);
  (match Promise.on_resolve p (fun _ -> f ()) with
  | () -> Alcotest.failf "%s: it is not refused at once" what
  | exception e -> told e);
  match Promise.peek mapped with
  | Some (Error e) -> told e
  | Some (Ok ()) | None -> Alcotest.failf "%s: it is not refused in map" what

let drop (_ : Fifo.handle) = ()

let of_fifo () =
  refused "fork" (fun () -> drop (Fifo.fork ignore));
  refused "a daemon" (fun () -> drop (Fifo.fork_daemon ignore));
  refused "fork_promise" (fun () ->
      ignore (Fifo.fork_promise ignore : unit Promise.t));
  refused "yield" Fifo.yield;
  refused "self" (fun () -> drop (Fifo.self ()));
  refused "a scope" (fun () -> Fifo.Scope.run ignore);
  (* This scope would have to wait for its task. *)
  refused "a scope with a task" (fun () ->
      Fifo.Scope.run (fun _ -> drop (Fifo.fork (fun () -> Tasks.sleep 0.001))));
  Scope.run (fun scope ->
      refused "a task of the filler's scope" (fun () -> Scope.fork scope ignore))

let of_all () =
  refused "a scope of any host" (fun () -> Scope.run ignore);
  refused "both" (fun () -> ignore (Tasks.both ignore ignore : unit * unit));
  refused "yield, of any host" Tasks.yield;
  refused "await" (fun () -> Promise.await (Promise.create ()));
  refused "in protect" (fun () ->
      Suspend.protect (fun () -> Promise.await (Promise.create ())))

let of_the_program () =
  let reached = ref false in
  let effc (type a) (e : a Effect.t) :
      ((a, _) Effect.Deep.continuation -> _) option =
    match e with
    | Mine ->
        Some
          (fun (k : (a, _) Effect.Deep.continuation) ->
            reached := true;
            Effect.Deep.continue k 1)
    | _ -> None
  in
  let work () =
    int "outside" 1 (Effect.perform Mine);
    reached := false;
    refused "an effect" (fun () -> ignore (Effect.perform Mine : int))
  in
  Effect.Deep.try_with work () { effc };
  no "reached" !reached;
  (* An [Unhandled] that another task raised before must stay as it is. *)
  let failed : unit Promise.t = Promise.create () in
  Promise.fail failed (Effect.Unhandled Mine);
  raises "a failure" (Effect.Unhandled Mine) (fun () ->
      Promise.await (Promise.map Fun.id failed));
  raises "a failure, read there" (Effect.Unhandled Mine) (fun () ->
      Promise.on_resolve failed (fun _ -> Promise.await failed))

(* A handler within the function may handle effects. *)
let allowed () =
  let called = ref [] in
  let p = Promise.create () in
  let allow what f =
    Promise.on_resolve p (fun _ ->
        f ();
        called := what :: !called)
  in
  let ended = Fifo.run (fun () -> Fifo.fork ignore) in
  let lazily = Lazy.from_fun (fun () -> 1) in
  allow "handler" (fun () ->
      let effc (type a) (e : a Effect.t) :
          ((a, _) Effect.Deep.continuation -> _) option =
        match e with
        | Mine ->
            Some
              (fun (k : (a, _) Effect.Deep.continuation) ->
                Effect.Deep.continue k 1)
        | _ -> None
      in
      let perform () = int "mine" 1 (Effect.perform Mine) in
      Effect.Deep.try_with perform () { effc });
  allow "protect" (fun () -> int "value" 1 (Suspend.protect (fun () -> 1)));
  allow "join" (fun () -> Fifo.join ended);
  allow "lazy" (fun () -> int "forced" 1 (Lazy.force lazily));
  allow "scheduler" (fun () ->
      Fifo.run (fun () ->
          let box = Mvar.create_empty () in
          drop (Fifo.fork (fun () -> Mvar.put box 1));
          int "taken" 1 (Mvar.take box)));
  allow "caught" (fun () ->
      match Effect.perform Mine with
      | (_ : int) -> Alcotest.fail "handled"
      | exception Effect.Unhandled Mine -> ());
  Promise.fill p ();
  strings "called"
    [ "handler"; "protect"; "join"; "lazy"; "scheduler"; "caught" ]
    (List.rev !called)

(* The filling task is cancelled, but the function isn't. *)
let cancelled_filler () =
  Fifo.run @@ fun () ->
  let p = Promise.create () in
  let mapped = Promise.map (fun v -> v + 1) p in
  let waits = Fifo.fork_promise (fun () -> Promise.await p) in
  let filler = Fifo.fork (fun () -> Promise.fill p 1) in
  Fifo.cancel filler;
  int "mapped" 2 (Promise.await mapped);
  int "behind" 1 (Promise.await waits)

let within name place =
  ( name,
    [
      test "of any host" (fun () -> place of_all);
      test "of the program" (fun () -> place of_the_program);
      test "allowed" (fun () -> place allowed);
    ] )

let () =
  run "Effects in functions of promises"
    [
      within "a thread" (fun f -> f ());
      within "Fifo" Fifo.run;
      within "by hand" (fun f ->
          let task = Hand.start f in
          Hand.settle ();
          Hand.result task);
      ( "of Fifo",
        [
          test "its operations" (fun () -> Fifo.run of_fifo);
          test "outside of it" (fun () ->
              refused "fork" (fun () -> drop (Fifo.fork ignore)));
          test "a cancelled filler" cancelled_filler;
        ] );
    ]
