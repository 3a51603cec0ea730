(* Without concord-eio no cancellation can be deferred, so a cancelled fiber doesn't wait
   for its job. *)

open Concord
open Concord_test_support
open Concord_domainslib

let raises_at_once () =
  with_pool ~num_domains:1 @@ fun pool ->
  Eio_main.run @@ fun _ ->
  let begun = Promise.create ()
  and gate = Promise.create ()
  and told = Promise.create () in
  let job token =
    Promise.fill begun ();
    Event.sync (stopped_evt token);
    Promise.await gate;
    Promise.fill told ()
  in
  Eio.Fiber.first
    (fun () -> run_stoppable pool job)
    (fun () -> Promise.await begun);
  Promise.fill gate ();
  Promise.await told

let () =
  Check.run "Pools: jobs that stop, without concord-eio"
    [
      ("cancelled", [ Check.test "at once, and asked to stop" raises_at_once ]);
    ]
