(* The trace of tasks on the hosts that need no other library. *)

open Concord_test_support
open Check
open Concord
open Concord.Tools
open Test_host
open Basic_hosts
open Kept
open Traced

(* A scope in a task of a host. *)
let scope host =
  {
    host with
    run =
      (fun body ->
        host.run (fun tasks ->
            Scope.run (fun scope ->
                body { tasks with fork = (fun f -> Scope.fork scope f) })));
  }

let waits_of events = suspensions "Mvar.take" events

let the_end wait events =
  match ends wait events with
  | [ (_, outcome) ] -> outcome
  | _ -> Alcotest.fail "not resumed once"

(* Threads of a monadic style have no stack, so each waiting operation stands for itself. *)
let operation_of_a_style () =
  let open Concord_styles.Trampoline in
  let mvar = Concord.Mvar.create_empty () in
  let name = named mvar in
  let events =
    of_ (fun () ->
        spawn (fun () -> take_mvar mvar >>= ignore);
        spawn (fun () ->
            int "it waits" 1 (List.length (waits_in name));
            put_mvar mvar () >>= ignore);
        start ())
  in
  match waits_of events with
  | [ (wait, task, _) ] ->
      strings "task"
        [ "Concord_styles.Trampoline"; "an operation" ]
        [ task.host; task.name ];
      yes "returned" (the_end wait events = Trace.Returned);
      int "woken" 1 (List.length (wakers wait events))
  | all -> int "waits" 1 (List.length all)

let cases (host : Test_host.t) =
  [
    test (host.reported ^ ", and itself") (alone host);
    test (host.reported ^ ", and a thread") (two_hosts host threads);
    test ("a domain, and " ^ host.reported) (two_hosts domains host);
  ]

let () =
  run "Trace, tasks"
    [
      ("fifo", cases fifo);
      ("threads", [ test "two" (alone threads) ]);
      ("domains", [ test "two" (alone domains) ]);
      ( "styles",
        List.concat_map cases Style_hosts.[ delimited; callcc; threads ] );
      ( "from fork to end",
        [
          test "fifo" (alone_forked fifo);
          test "a scope in fifo" (alone_forked (scope fifo));
          test "a scope in a thread"
            (alone_forked { (scope threads) with reported = "fifo" });
        ] );
      ("operations", [ test "of a style" operation_of_a_style ]);
    ]
