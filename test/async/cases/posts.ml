(* Jobs that other threads and domains post. *)

open Concord
open Concord_test_support
open Check
open In_async

let turn = Async.Scheduler.yield_until_no_jobs_remain

let posted () =
  async @@ fun () ->
  let here = Domain.self () in
  in_domain (fun f -> f ()) @@ fun () ->
  let job n () =
    yes "in Async's domain" (Domain.self () = here);
    yes "with its lock" (Async.Thread_safe.am_holding_async_lock ());
    let* () = Async.Clock.after (Core.Time_float.Span.of_sec 0.0005) in
    Deferred.return (n + 1)
  in
  for n = 1 to 20 do
    int "the value" (n + 1) (Promise.await (A.post (job n)))
  done;
  raises "what is raised" Exit (fun () ->
      Promise.await (A.post (fun () -> raise Exit)));
  raises "what fails" Not_found (fun () ->
      Promise.await
        (A.post (fun () ->
             let* () = turn () in
             raise Not_found)))

let posted_in_order () =
  let n = 5_000 and seen = ref 0 and disorder = ref 0 in
  async @@ fun () ->
  in_domain (fun f -> f ()) @@ fun () ->
  let last = ref (Promise.of_value ()) in
  for i = 0 to n - 1 do
    last :=
      A.post (fun () ->
          if !seen <> i then incr disorder;
          incr seen;
          Deferred.return ())
  done;
  Promise.await !last;
  int "all" n !seen;
  int "in order" 0 !disorder

(* The job is posted while Async doesn't run. It begins when Async is called next. *)
let posted_between () =
  let promise =
    Check.in_domain (fun () -> A.post (fun () -> Deferred.return 1))
  in
  no "not yet" (Promise.is_resolved promise);
  async @@ fun () ->
  let* v = A.Promise.await promise in
  int "the value" 1 v;
  Deferred.return ()

let tests =
  [
    ( "post",
      [
        test "from a domain" posted;
        test "in order" posted_in_order;
        test "while Async does not run" posted_between;
      ] );
  ]
