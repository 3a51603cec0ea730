(* Workers and their jobs, called by tasks of several hosts. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo
open Workers

exception Boom

let[@inline never] culprit () = if true then raise Boom
let here () = (Domain.self () :> int)
let ignore_job (_ : unit Promise.t) = ()
let eio f = Eio_main.run (fun _ -> f ())

(* Submits a job, and returns when it has begun. Then it waits for [gate]. *)
let held w gate f =
  let begun = Promise.create () in
  let job =
    submit w (fun () ->
        Promise.fill begun ();
        Promise.await gate;
        f ())
  in
  Promise.await begun;
  job

(* Keeps a worker busy until the returned function is called. *)
let occupy w =
  let begun = Promise.create () and release = Atomic.make false in
  let busy =
    submit w (fun () ->
        Promise.fill begun (here ());
        while not (Atomic.get release) do
          Domain.cpu_relax ()
        done)
  in
  let domain = Promise.await begun in
  let free () =
    Atomic.set release true;
    Promise.await busy
  in
  (domain, free)

let rec compute token =
  check token;
  Domain.cpu_relax ();
  compute token

let forever _ = Promise.await (Promise.create ())

(* --- Jobs of each host ------------------------------------------------------- *)

let hosts =
  [
    Basic_hosts.threads;
    Basic_hosts.fifo;
    Basic_hosts.lazy_fifo;
    Eio_hosts.fibers;
  ]

let cancelling =
  List.filter (fun (h : Test_host.t) -> Option.is_some h.cancel) hosts

let on_each hosts f =
  List.map
    (fun (host : Test_host.t) ->
      test host.name (fun () -> with_workers ~domains:1 (f host)))
    hosts

let runs (host : Test_host.t) w =
  host.run @@ fun _ ->
  let job token =
    check token;
    no "not stopped" (is_stopped token);
    6
  in
  int "the value" 6 (run_stoppable w job);
  raises_at "culprit" (fun () -> run_stoppable w (fun _ -> culprit ()))

let times_out f (host : Test_host.t) w =
  host.run @@ fun _ ->
  let goes_on = ref false in
  let job token =
    goes_on := true;
    Fun.protect ~finally:(fun () -> goes_on := false) (fun () -> f token)
  in
  match Tasks.with_timeout 0.001 (fun () -> run_stoppable w job) with
  | None -> no "it continues" !goes_on
  | Some () -> Alcotest.fail "it returned"

(* A task runs the job [f token] and is cancelled once the job has begun. [check] tests how
   the call in the task ends. *)
let cancelled (host : Test_host.t) w f check =
  let begun = Promise.create () in
  let job token =
    Promise.fill begun ();
    f token
  in
  host.run (fun _ ->
      (Option.get host.cancel)
        (fun () -> check (fun () -> run_stoppable w job))
        ~after:(fun () -> Promise.await begun))

let raises_cancellation f host w =
  cancelled host w f (fun run ->
      match run () with
      | () -> Alcotest.fail "it returned"
      | exception e ->
          no "not the job's exception" (e = Cancelled);
          yes "is cancelled" (Tasks.is_cancelled ());
          raise e)

let keeps_value host w =
  let value = ref 0 in
  cancelled host w
    (fun token -> try compute token with Cancelled -> 7)
    (fun run ->
      value := run ();
      Tasks.yield ();
      Alcotest.fail "it continued");
  int "its value" 7 !value

let keeps_failure host w =
  let failed = ref false in
  cancelled host w
    (fun token -> try compute token with Cancelled -> culprit ())
    (fun run ->
      match run () with
      | () -> Alcotest.fail "it returned"
      | exception Boom ->
          failed := true;
          Tasks.yield ());
  yes "failed" !failed

let not_begun call (host : Test_host.t) w =
  let _, free = occupy w in
  let submitted = Promise.create () in
  host.run (fun _ ->
      (Option.get host.cancel)
        (fun () ->
          Promise.fill submitted ();
          call w (fun () -> Alcotest.fail "it began"))
        ~after:(fun () -> Promise.await submitted));
  free ();
  run w ignore

(* --- with_workers ------------------------------------------------------------- *)

let ends_from place () =
  place @@ fun () ->
  let caller = here () in
  let elsewhere =
    with_workers ~domains:1 (fun w -> Promise.await (submit w here))
  in
  no "not on the caller's domain" (elsewhere = caller)

(* [other] runs beside the task that is in [with_workers], on the same domain. *)
let waits_for_jobs both () =
  let gate = Promise.create () and left = Promise.create () in
  let ended = Atomic.make 0 in
  let caller () =
    let v =
      with_workers ~domains:1 (fun w ->
          let count () = Atomic.incr ended in
          ignore_job (held w gate count);
          ignore_job (submit w count);
          Promise.fill left ();
          7)
    in
    int "both jobs have ended" 2 (Atomic.get ended);
    int "value" 7 v
  and other () =
    Promise.await left;
    (* This takes longer than the end of workers. *)
    with_workers ~domains:1 (fun w -> run w ignore);
    Promise.fill gate ()
  in
  both caller other

let both_fifo f g =
  Fifo.run (fun () ->
      let first = Fifo.fork f in
      g ();
      Fifo.join first)

let both_eio f g = eio (fun () -> Eio.Fiber.both f g)

let cancelled_in_f () =
  let gate = Promise.create () and ended = Atomic.make false in
  Fifo.run @@ fun () ->
  let entered = Promise.create () in
  let task =
    Fifo.fork (fun () ->
        raises "with_workers" Fifo.Cancelled (fun () ->
            with_workers ~domains:1 (fun w ->
                ignore_job (held w gate (fun () -> Atomic.set ended true));
                Promise.fill entered ();
                Promise.await (Promise.create ())));
        yes "the job had ended" (Atomic.get ended))
  in
  Promise.await entered;
  Fifo.cancel task;
  (* The task unwinds, and has to wait for the job. *)
  for _ = 1 to 10 do
    Fifo.yield ()
  done;
  no "it continues" (Atomic.get ended);
  Promise.fill gate ();
  Fifo.join task

let cancelled_after_f () =
  let gate = Promise.create () and ended = Atomic.make false in
  Fifo.run @@ fun () ->
  let left = Promise.create () in
  let task =
    Fifo.fork (fun () ->
        with_workers ~domains:1 (fun w ->
            ignore_job (held w gate (fun () -> Atomic.set ended true));
            Promise.fill left ());
        yes "the job had ended" (Atomic.get ended);
        raises "afterwards" Fifo.Cancelled Fifo.yield)
  in
  Promise.await left;
  Fifo.yield ();
  Fifo.cancel task;
  Fifo.yield ();
  Promise.fill gate ();
  Fifo.join task

(* The job that called [with_workers] continues on another domain than before. *)
let moves () =
  with_workers ~domains:2 @@ fun outer ->
  let entered = Promise.create () and gate = Promise.create () in
  let job =
    submit outer (fun () ->
        with_workers ~domains:1 (fun w ->
            let before = here () in
            Promise.fill entered before;
            Promise.await gate;
            int "runs" 5 (run w (fun () -> 5));
            before <> here ()))
  in
  let first = Promise.await entered in
  let domain, free = occupy outer in
  let free =
    if domain = first then free
    else begin
      let second, free_first = occupy outer in
      int "the other domain" first second;
      free ();
      free_first
    end
  in
  Promise.fill gate ();
  yes "it has moved" (Promise.await job);
  free ()

(* --- Signals ------------------------------------------------------------------- *)

exception Tick

let this_thread () = Thread.id (Thread.self ())
let mask () = List.sort compare (Thread.sigmask SIG_BLOCK [])

let masks () =
  let before = mask () in
  with_workers ~domains:2 (fun w ->
      let signals = [ Sys.sigint; Sys.sigterm; Sys.sigalrm; Sys.sigusr1 ] in
      let blocked = run w mask in
      let is_blocked signal = List.mem signal blocked in
      yes "blocked in a job" (List.for_all is_blocked signals);
      yes "the function" (mask () = before));
  yes "the caller" (mask () = before)

(* The handler raises in each thread of this domain except the caller's, where it can. *)
let other_threads () =
  let this = this_thread () in
  let in_thread () = Domain.is_main_domain () && this_thread () <> this in
  let until = Unix.gettimeofday () +. 2. in
  while Unix.gettimeofday () < until do
    Interrupting.others ~by:Tick ~in_thread (fun () ->
        int "value" 1 (with_workers ~domains:1 (fun w -> run w (fun () -> 1))))
  done

let () =
  Printexc.record_backtrace true;
  Check.run "Workers, called by each host"
    [
      ("run_stoppable", on_each hosts runs);
      ("a timeout, while it computes", on_each hosts (times_out compute));
      ("a timeout, while it waits", on_each hosts (times_out forever));
      ("cancelled", on_each cancelling (raises_cancellation compute));
      ( "cancelled, while it waits",
        on_each cancelling (raises_cancellation forever) );
      ("cancelled, with a value", on_each cancelling keeps_value);
      ("cancelled, and fails", on_each cancelling keeps_failure);
      ("run, cancelled before it began", on_each cancelling (not_begun run));
      ( "run_stoppable, cancelled before it began",
        on_each cancelling
          (not_begun (fun w f -> run_stoppable w (fun _ -> f ()))) );
      ( "with_workers",
        [
          test "from the main thread" (ends_from (fun f -> f ()));
          test "from a thread" (ends_from in_thread);
          test "from a domain" (ends_from in_domain);
          test "from an Eio fiber" (ends_from eio);
          test "from a task of Fifo" (ends_from (fun f -> Fifo.run f));
          test "waits for the jobs; a thread"
            (waits_for_jobs (fun f g -> beside g f));
          test "waits for the jobs; Eio" (waits_for_jobs both_eio);
          test "waits for the jobs; Fifo" (waits_for_jobs both_fifo);
          test "cancelled in its function" cancelled_in_f;
          test "cancelled when its function has returned" cancelled_after_f;
          test "continues on another domain" moves;
        ] );
      ( "signals",
        [
          test "masks" masks;
          test "a handler raises in other threads" other_threads;
        ] );
    ]
