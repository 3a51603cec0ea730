(* Concord_domainslib: jobs are asked to stop, by their submitters and at the end of a pool. *)

open Pools
open Concord
open Concord_test_support
open Check
open Concord_domainslib
module Task = Domainslib.Task

let hosts =
  [
    Basic_hosts.threads;
    Basic_hosts.fifo;
    Basic_hosts.lazy_fifo;
    Eio_hosts.fibers;
  ]

let on_each hosts f =
  List.map
    (fun (host : Test_host.t) ->
      test host.name (fun () -> with_pool ~num_domains:1 (f host)))
    hosts

(* Computes until the job is asked to stop. *)
let rec compute token =
  check token;
  Domain.cpu_relax ();
  compute token

(* --- By the submitter -------------------------------------------------------- *)

let runs (host : Test_host.t) pool =
  host.run @@ fun _ ->
  let job token =
    check token;
    no "not stopped" (is_stopped token);
    6
  in
  int "the value" 6 (run_stoppable pool job);
  raises_at "culprit" (fun () -> run_stoppable pool (fun _ -> culprit ()))

let times_out (host : Test_host.t) pool =
  host.run @@ fun _ ->
  let goes_on = ref false in
  let job token =
    goes_on := true;
    Fun.protect ~finally:(fun () -> goes_on := false) (fun () -> compute token)
  in
  match Tasks.with_timeout 0.001 (fun () -> run_stoppable pool job) with
  | None -> no "it continues" !goes_on
  | Some () -> Alcotest.fail "it returned"

let cancelling =
  List.filter (fun (h : Test_host.t) -> Option.is_some h.cancel) hosts

(* A task runs the job [f token] and is cancelled once the job has begun. [check] tests how
   the call in the task ends. *)
let cancelled (host : Test_host.t) pool f check =
  let begun = Promise.create () in
  let job token =
    Promise.fill begun ();
    f token
  in
  host.run (fun _ ->
      (Option.get host.cancel)
        (fun () -> check (fun () -> run_stoppable pool job))
        ~after:(fun () -> Promise.await begun))

let raises_cancellation host pool =
  cancelled host pool compute (fun run ->
      match run () with
      | () -> Alcotest.fail "it returned"
      | exception e ->
          no "not the job's exception" (e = Cancelled);
          yes "is cancelled" (Tasks.is_cancelled ());
          raise e)

let keeps_value host pool =
  let value = ref 0 in
  cancelled host pool
    (fun token -> try compute token with Cancelled -> 7)
    (fun run ->
      value := run ();
      Tasks.yield ();
      Alcotest.fail "it continued");
  int "its value" 7 !value

let keeps_failure host pool =
  let failed = ref false in
  cancelled host pool
    (fun token -> try compute token with Cancelled -> culprit ())
    (fun run ->
      match run () with
      | () -> Alcotest.fail "it returned"
      | exception Boom ->
          failed := true;
          Tasks.yield ());
  yes "failed" !failed

let unstarted (host : Test_host.t) pool =
  let _, free = occupy pool in
  let submitted = Promise.create () in
  host.run (fun _ ->
      (Option.get host.cancel)
        (fun () ->
          Promise.fill submitted ();
          run_stoppable pool (fun _ -> Alcotest.fail "started"))
        ~after:(fun () -> Promise.await submitted));
  free ();
  settle pool

(* [f pool begins token] has to call [begins ()] first. *)
let told f () =
  with_pool ~num_domains:1 @@ fun pool ->
  let begun = Promise.create () in
  let begins () = ignore (Promise.try_fill begun () : bool) in
  let promise, cancel = submit_stoppable pool (f pool begins) in
  Promise.await begun;
  no "it has started" (cancel ());
  no "still" (cancel ());
  raises "its promise" Cancelled (fun () -> Promise.await promise)

let in_parts pool begun token =
  let body _ =
    begun ();
    compute token
  in
  Task.parallel_for pool ~chunk_size:1 ~start:0 ~finish:3 ~body

let waiting _ begun token =
  begun ();
  Event.sync (stopped_evt token);
  check token

(* --- At the end of the pool ---------------------------------------------------- *)

(* Each job has started before the pool ends. *)
let ends ~grace jobs =
  with_pool ~grace ~num_domains:1 @@ fun pool ->
  List.map
    (fun job ->
      let started = Promise.create () in
      let promise, _ =
        submit_stoppable pool (fun token ->
            Promise.fill started ();
            job token)
      in
      Promise.await started;
      promise)
    jobs

let stops_jobs () =
  let waits token =
    Event.sync (stopped_evt token);
    check token
  in
  List.iter
    (fun promise ->
      raises "its promise" Cancelled (fun () -> Promise.await promise))
    (ends ~grace:1. [ waits; compute ])

(* A job that was asked to stop may still wait for a while and submit other jobs. *)
let unwinds () =
  let unwound = ref 0 in
  let job =
    with_pool ~grace:1. ~num_domains:1 @@ fun pool ->
    fst
      (submit_stoppable pool (fun token ->
           Event.sync (stopped_evt token);
           unwound := run pool (fun () -> 5)))
  in
  Promise.await job;
  int "unwound" 5 !unwound

(* The first job never checks its token, so the jobs behind it never start. *)
let leaves_jobs () =
  let started = Promise.create () and free = Atomic.make false in
  let stubborn () =
    Promise.fill started ();
    eventually ~pause:Domain.cpu_relax "freed" (fun () -> Atomic.get free)
  in
  let unstarted _ = Alcotest.fail "started" in
  let pool, jobs =
    with_pool ~grace:0.01 ~num_domains:1 @@ fun pool ->
    let waits = held pool (Promise.create ()) ignore in
    let first = submit pool stubborn in
    Promise.await started;
    let second = submit pool unstarted in
    let third, _ = submit_stoppable pool unstarted in
    (pool, [ waits; first; second; third ])
  in
  let is_lost promise =
    raises "its promise" Torn_down (fun () -> Promise.await promise)
  in
  List.iter is_lost jobs;
  let late = submit pool unstarted in
  yes "at once" (Promise.is_resolved late);
  is_lost late;
  Atomic.set free true;
  eventually "the pool is torn down" (fun () ->
      match submit pool ignore with
      | (_ : unit Promise.t) -> false
      | exception Invalid_argument _ -> true)

let without_bound () =
  let gate = Promise.create () in
  let filler = ref ignore in
  let job =
    with_pool ~grace:Float.infinity ~num_domains:1 @@ fun pool ->
    let job = held pool gate (fun () -> 3) in
    filler := thread (fun () -> Promise.fill gate ());
    job
  in
  yes "it has ended" (Promise.is_resolved job);
  !filler ()

let bad_grace () =
  List.iter
    (fun (grace, shown) ->
      raises "grace"
        (Invalid_argument
           (Printf.sprintf
              "Concord_domainslib.with_pool: grace must be at least 0, but is \
               %s"
              shown))
        (fun () -> with_pool ~grace ~num_domains:1 ignore))
    [ (-1., "-1"); (Float.nan, "nan") ]

let () =
  Check.run "Pools: jobs that stop"
    [
      ("run_stoppable", on_each hosts runs);
      ("a timeout", on_each hosts times_out);
      ("cancelled", on_each cancelling raises_cancellation);
      ("cancelled, with a value", on_each cancelling keeps_value);
      ("cancelled, and fails", on_each cancelling keeps_failure);
      ("cancelled before it started", on_each cancelling unstarted);
      ( "told",
        [
          test "parts of a job" (told in_parts);
          test "a job that waits" (told waiting);
        ] );
      ( "the end of a pool",
        [
          test "stops jobs" stops_jobs;
          test "lets jobs unwind" unwinds;
          test "leaves jobs" leaves_jobs;
          test "without a bound" without_bound;
          test "grace" bad_grace;
        ] );
    ]
