(* Fibers of Eio without concord-eio, whose cancellation can't be delayed. *)

open Concord_test_support
open Check
module Aio = Concord_aio
module Blocking_threads = Concord_aio__Blocking_threads

(* Calls [f] in a fiber that is cancelled already. *)
let cancelled f =
  Eio_main.run @@ fun _ ->
  match
    Eio.Cancel.sub (fun context ->
        Eio.Cancel.cancel context Exit;
        f ())
  with
  | () -> ()
  | exception Eio.Cancel.Cancelled Exit -> Alcotest.fail "it was cancelled"

let number_in_use () =
  Closing.with_number ~linger:1 @@ fun fd _ ->
  cancelled (fun () -> Aio.close fd);
  no "open" (Closing.is_open fd)

let held () =
  Closing.with_loop @@ fun fd let_go ->
  cancelled (fun () -> Aio.close fd);
  let_go ();
  no "open" (Closing.is_open fd)

(* The fiber is cancelled after the job has begun. The job may still use the caller's buffer, so
   the fiber doesn't continue before the job's end. *)
let job () =
  let begun = Atomic.make false
  and cancelling = Atomic.make false
  and ended = Atomic.make false in
  let job () =
    Atomic.set begun true;
    eventually "it is cancelled" (fun () -> Atomic.get cancelling);
    Thread.delay 0.05;
    Atomic.set ended true
  in
  Eio_main.run @@ fun _ ->
  Eio.Fiber.first
    (fun () ->
      (try Blocking_threads.run_protected Files job
       with Eio.Cancel.Cancelled _ -> Alcotest.fail "it was cancelled");
      yes "the job has ended" (Atomic.get ended))
    (fun () ->
      eventually "it begins" ~pause:Eio.Fiber.yield (fun () -> Atomic.get begun);
      Atomic.set cancelling true)

let () =
  Check.run "aio: unlinked"
    [
      ( "cancelled",
        [
          test "close, of a number in use" number_in_use;
          test "close, of what a loop holds" held;
          test "a job of a thread" job;
        ] );
    ]
