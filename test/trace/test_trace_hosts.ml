(* The trace of tasks on the hosts of other libraries, and of waits between hosts. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Test_host
open Basic_hosts
open Traced

let eio = Eio_hosts.fibers
let jobs = Job_hosts.jobs
let pool_tasks = Job_hosts.tasks
let lwt = Lwt_hosts.(promises lwt_main)
let lwt_direct = Lwt_hosts.(lwt_direct lwt_main)

(* The host runs in another domain. Tasks of other hosts use it to fork there. *)
let elsewhere host =
  let run body =
    let forks = Stream.create 1 and inside = Promise.create () in
    let serve tasks =
      Promise.fill inside tasks;
      try
        while true do
          tasks.fork (Stream.take forks)
        done
      with Stream.Closed -> ()
    in
    let other = Partner.lasting_domain () in
    Partner.ask other (fun () -> host.run serve);
    let fork f = Stream.add forks f
    and pause () = (Promise.await inside).pause () in
    body { fork; pause };
    Stream.close forks;
    Partner.join other
  in
  { host with run }

let from_eio_to_a_pool () =
  let events =
    of_ (fun () ->
        eio.run (fun fibers ->
            jobs.run (fun jobs ->
                ignore (in_turn fibers jobs : string * string))))
  in
  let across wait =
    match wakers wait events with
    | [ (_, domain) ] -> domain <> (Domain.self () :> int)
    | _ -> false
  in
  let waits = suspensions "Mvar.take" events in
  yes "handed over" (List.for_all (fun (wait, _, _) -> across wait) waits)

(* --- Promises of Lwt ---------------------------------------------------------- *)

let promises () =
  let mvar = Mvar.create_empty () in
  let events =
    of_ (fun () ->
        Lwt_main.run
          (Lwt.bind (Lwt.pause ()) (fun () ->
               let first = Concord_lwt.Mvar.take mvar in
               let second = Concord_lwt.Mvar.take mvar in
               let third = Concord_lwt.Mvar.take mvar in
               Lwt.cancel second;
               Mvar.put mvar ();
               Thread.join (Thread.create (fun () -> Mvar.put mvar ()) ());
               Lwt.join [ first; third ])))
  in
  let waits = suspensions "Mvar.take" events in
  let one (wait, (task : Trace.task), at) =
    yes ("line " ^ at) (contains at "test_trace_hosts.ml:");
    let outcome =
      match ends wait events with
      | [ (resumed, outcome) ] ->
          int "one number" task.id resumed.id;
          outcome
      | _ -> Alcotest.fail "not ended once"
    in
    let by = List.map (fun ((by : Trace.task), _) -> by) (wakers wait events) in
    Printf.sprintf "%s, %s: %s%s" task.host task.name
      (match outcome with
      | Returned -> "returned"
      | Raised -> "raised"
      | Cancelled -> "cancelled")
      (match by with
      | [] -> ""
      | by :: _ when by.host = "" -> ", by a thread"
      | by :: _ -> Printf.sprintf ", by %s, %s" by.host by.name)
  in
  strings "waits"
    [
      "lwt, an operation: returned, by lwt, a task";
      "lwt, an operation: cancelled";
      "lwt, an operation: returned, by a thread";
    ]
    (List.map one waits)

(* The waker passes an exception. *)
let promise_that_fails () =
  let queue = Mailbox.create () in
  let events =
    of_ (fun () ->
        match
          Lwt_main.run
            (let taken = Concord_lwt.Mailbox.take queue in
             Mailbox.close queue;
             taken)
        with
        | () -> Alcotest.fail "it was closed"
        | exception Mailbox.Closed -> ())
  in
  match suspensions "Mailbox.take" events with
  | [ (wait, _, _) ] ->
      yes "raised" (List.map snd (ends wait events) = [ Trace.Raised ])
  | all -> int "waits" 1 (List.length all)

let cases (host : Test_host.t) =
  [
    test "two" (alone host);
    test "and a thread" (two_hosts host threads);
    test "a thread, and it" (two_hosts threads host);
  ]

let () =
  run "Trace, hosts"
    [
      ("eio", cases eio);
      ("jobs", cases jobs);
      ("tasks of a pool", cases pool_tasks);
      ("lwt", cases lwt);
      ("lwt_direct", cases lwt_direct);
      ( "across",
        [
          test "eio and fifo" (two_hosts eio (elsewhere fifo));
          test "fifo and eio" (two_hosts fifo (elsewhere eio));
          test "eio and jobs" (two_hosts eio jobs);
          test "lwt and jobs" (two_hosts lwt jobs);
          test "jobs and lwt" (two_hosts jobs lwt);
          test "eio and tasks of a pool" (two_hosts eio pool_tasks);
          test "lwt and eio" (two_hosts lwt (elsewhere eio));
          test "handed over" from_eio_to_a_pool;
        ] );
      ( "from fork to end",
        [ test "jobs" (alone_forked jobs); test "lwt" (alone_forked lwt) ] );
      ( "promises",
        [ test "of Lwt" promises; test "one that fails" promise_that_fails ] );
    ]
