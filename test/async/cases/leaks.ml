(* Tasks of Async that can never be resumed, in a program that looks for such tasks. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Lost
open In_async
module A = Concord_async
module Monitor = Async.Monitor

let rec collect_until was_told =
  (try raise Exit with Exit -> ());
  Gc.full_major ();
  if !was_told then Async.return true
  else
    Deferred.bind (Async.Scheduler.yield ()) ~f:(fun () ->
        collect_until was_told)

(* Async's loop doesn't start the collector, so the test does. *)
let collecting start =
  let was_told = ref false in
  let told () = was_told := true in
  async (fun () ->
      start told;
      Async.Clock.with_timeout
        (Core.Time_float.Span.of_sec 20.)
        (collect_until was_told))
  = `Result true

let in_direct wait =
  collecting (fun note ->
      Async.don't_wait_for (A.direct (fun () -> if told wait then note ())))

let[@inline never] takes_in_vain () =
  Sys.opaque_identity (A.Mvar.take (Mvar.create_empty () : unit Mvar.t))

let in_jobs () =
  let was_told, report =
    with_report ~reports:1 (fun () ->
        collecting (fun note ->
            Async.upon (Monitor.try_with takes_in_vain) (function
              | Ok () -> ()
              | Error e ->
                  if Monitor.extract_exn e = Suspend.Never_resumed then note ())))
  in
  yes "the monitor got the exception" was_told;
  int "reports" 1 (count report gone);
  yes "the report shows the caller" (contains report "takes_in_vain")

let goes_on () =
  let box = Mvar.create_empty () in
  async (fun () ->
      let taken = A.Mvar.take box in
      let* () = Async.Scheduler.yield () in
      Gc.full_major ();
      Mvar.put box 1;
      Deferred.map taken ~f:(int "taken" 1))

let run () =
  run "CONCORD_DEBUG=leaks, Async"
    [
      ( "found",
        [ test "direct" (found `Both in_direct); test "an operation" in_jobs ]
      );
      ("nothing to be found", [ test "it continues" (nothing goes_on) ]);
    ]
