(* A job of Workers is a task of a host. *)

open Concord
open Concord_test_support
open Concord_test_hosts
open Check

let host = Cancelling.workers
let within f = Workers.with_workers ~domains:1 (fun w -> Workers.run w f)

let jobs fs =
  Workers.with_workers ~domains:2 (fun w ->
      List.iter Promise.await (List.map (Workers.submit w) fs))

(* --- Operations that need not wait ------------------------------------------------ *)

let of_workers =
  let ended = Workers.with_workers ~domains:1 Fun.id in
  Ready_cases.
    [
      now "Workers.submit" (fun () ->
          ignore (Workers.submit ended not_called : unit Promise.t));
      now "Workers.submit_stoppable" (fun () ->
          let _, cancel =
            Workers.submit_stoppable ended (fun _ -> not_called ())
          in
          no "it has ended" (cancel ()));
      now "Workers.run, too late" (fun () ->
          raises "lost" Workers.Lost (fun () -> Workers.run ended not_called));
      now "Workers.run_stoppable, too late" (fun () ->
          raises "lost" Workers.Lost (fun () ->
              Workers.run_stoppable ended (fun _ -> not_called ())));
    ]

let () =
  run "Jobs of workers as tasks"
    [
      ("reached", Reach_cases.place "workers" Reach_cases.suspends within);
      ("cancelled", [ test "is_cancelled" (Reach_cases.cancelled host) ]);
      Tasks_cases.everywhere ("tasks", within);
      Tasks_cases.everywhere
        ("tasks of Fifo", fun f -> within (fun () -> Concord_fifo.run f));
      Tasks_cancelled.from_outside "tasks, cancelled" host;
      Ready_cases.(on ~more:of_workers (of_cancelling "workers" host));
      Lazy_policies.suite "lazy" host;
      ("lazy, undefined", Lazy_undefined.within within);
      ("lazy, among jobs", Lazy_undefined.among jobs);
    ]
