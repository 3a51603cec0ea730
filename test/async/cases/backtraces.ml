(* The backtraces that Async's monitor gets when an exception ends a task. They are reduced to
   the frames of [Trace] that the text shows, in its order. *)

open Trace
open Concord
open Concord_test_support
open In_async
module A = Concord_async
module Monitor = Async.Monitor
module Promise = Concord.Promise

let fail () = outer ignore

let failing_later () =
  let promise = Promise.create () in
  Async.don't_wait_for (A.direct (fun () -> failing promise work));
  promise

let put_later () =
  let box = Mvar.create_empty () in
  Async.upon (Async.Scheduler.yield ()) (fun () -> Mvar.put box ());
  box

(* An exception that was passed to Concord keeps its backtrace. An exception that Async catches
   itself keeps it too, with the frames since the job began. *)
let cases =
  [
    ( "map",
      "raises inner outer",
      fun () -> Deferred.map (Async.Scheduler.yield ()) ~f:fail );
    ( "bind",
      "raises inner outer",
      fun () ->
        let* () = Async.Scheduler.yield () in
        Async.return (fail ()) );
    ( "Mvar.take",
      "raises inner outer",
      fun () -> Deferred.map (A.Mvar.take (put_later ())) ~f:fail );
    ( "sync, wrap",
      "raises inner outer",
      fun () -> A.sync (Event.wrap (Mvar.take_evt (put_later ())) fail) );
    ( "sync, wrap that waits",
      "raises inner outer",
      fun () -> A.sync (Event.wrap (Mvar.take_evt (put_later ())) work) );
    ( "Promise.await",
      "raises inner outer",
      fun () -> A.Promise.await (failing_later ()) );
    ( "Promise.await, resolved",
      "raises inner outer",
      fun () -> A.Promise.await (failed fail) );
    ( "called, no wait",
      "raises calls",
      fun () -> calls (fun () -> Async.return (raises ())) );
    ( "called, waited",
      "raises",
      fun () ->
        calls (fun () ->
            let* () = Async.Scheduler.yield () in
            Async.return (raises ())) );
    ("direct", "raises inner outer", fun () -> A.direct work);
    ( "direct, below match_with",
      "raises inner outer",
      fun () -> A.direct (fun () -> with_match_with work) );
    ("direct, resumed with an Error", "", fun () -> A.direct resumed_with_error);
    ("direct, block raises", "", fun () -> A.direct block_raises);
    ( "direct, Concord_fifo.run",
      "raises inner outer",
      fun () -> A.direct (fun () -> Concord_fifo.run work) );
    ( "direct, another domain",
      "raises inner outer",
      fun () ->
        A.direct (fun () ->
            from_domain ~record:true (fun () -> Concord_fifo.run work)) );
    ( "direct, of another task",
      "raises inner outer awaits",
      fun () ->
        let promise = failing_later () in
        A.direct (fun () -> awaits (fun () -> Promise.await promise)) );
    ( "others raise then",
      "raises inner outer",
      fun () ->
        Monitor.protect
          (fun () -> A.direct work)
          ~finally:(fun () ->
            Deferred.map (Async.Scheduler.yield ()) ~f:(fun () ->
                try ignore (raises () : int) with Boom -> ())) );
  ]

let case (name, expected, f) =
  Check.test name (fun () ->
      Printexc.record_backtrace true;
      match async (fun () -> Monitor.try_with f) with
      | Ok (_ : int) -> Alcotest.fail "it raised nothing"
      | Error e ->
          Alcotest.(check string)
            "the frames" expected
            (String.concat " " (frames_of_text (Core.Exn.to_string e))))

let suites = [ ("backtraces", List.map case cases) ]
