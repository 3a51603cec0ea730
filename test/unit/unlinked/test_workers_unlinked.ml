(* Without concord-eio no cancellation can be deferred, so a cancelled fiber doesn't wait
   for its job. *)

open Concord
open Concord_test_support

let raises_at_once () =
  Workers.with_workers ~domains:1 @@ fun workers ->
  Eio_main.run @@ fun _ ->
  let begun = Promise.create ()
  and gate = Promise.create ()
  and told = Promise.create () in
  let job token =
    Promise.fill begun ();
    (try Promise.await (Promise.create ()) with Workers.Cancelled -> ());
    Tasks.protect (fun () -> Promise.await gate);
    Promise.fill told (Workers.is_stopped token)
  in
  Eio.Fiber.first
    (fun () -> Workers.run_stoppable workers job)
    (fun () -> Promise.await begun);
  Promise.fill gate ();
  Check.yes "told" (Promise.await told)

let () =
  Check.run "Workers, without concord-eio"
    [ ("cancelled", [ Check.test "at once, and told to stop" raises_at_once ]) ]
