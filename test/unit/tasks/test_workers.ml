(* Workers, whose jobs are submitted from threads and from Concord_fifo. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo
open Workers

exception Boom

let[@inline never] culprit () = if true then raise Boom
let one f () = with_workers ~domains:1 f
let failed promise e = raises "its promise" e (fun () -> Promise.await promise)

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
        Promise.fill begun ();
        while not (Atomic.get release) do
          Domain.cpu_relax ()
        done)
  in
  Promise.await begun;
  fun () ->
    Atomic.set release true;
    Promise.await busy

let forever _ = Promise.await (Promise.create ())

let rec compute token =
  check token;
  Domain.cpu_relax ();
  compute token

(* --- Jobs ------------------------------------------------------------------------ *)

let results w =
  int "run" 42 (run w (fun () -> 6 * 7));
  int "submit" 42 (Promise.await (submit w (fun () -> 6 * 7)));
  raises_at "culprit" (fun () -> run w culprit);
  raises_at "culprit" (fun () -> Promise.await (submit w culprit));
  no "another domain" (run w Domain.self = Domain.self ())

let nested w =
  let rec nest n = if n = 0 then 0 else 1 + run w (fun () -> nest (n - 1)) in
  int "depth" 10 (nest 10)

let waits w =
  let gate = Promise.create () in
  let first = held w gate (fun () -> 7) in
  run w (Promise.fill gate);
  int "continued" 7 (Promise.await first)

let in_order w =
  let begun = ref [] in
  let free = occupy w in
  let job i = submit w (fun () -> begun := i :: !begun) in
  let jobs = List.init 100 job in
  free ();
  List.iter Promise.await jobs;
  Alcotest.(check (list int)) "order" (List.init 100 Fun.id) (List.rev !begun)

let yields w =
  traced [ "a"; "b"; "a"; "b" ] @@ fun say ->
  let free = occupy w in
  let job name =
    submit w (fun () ->
        say name;
        Tasks.yield ();
        say name)
  in
  let jobs = List.map job [ "a"; "b" ] in
  free ();
  List.iter Promise.await jobs

let tasks w =
  let both () = Tasks.both (fun () -> Tasks.sleep 0.001) (fun () -> 2) in
  int "Tasks" 2 (snd (run w both));
  let in_fifo () =
    Fifo.run (fun () -> Promise.await (Fifo.fork_promise (fun () -> 3)))
  in
  int "Concord_fifo" 3 (run w in_fifo);
  let nested () = one (fun w -> run w (fun () -> 4)) () in
  int "Workers" 4 (run w nested)

let unhandled w =
  let module E = struct
    type _ Effect.t += E : unit Effect.t
  end in
  raises "an effect of nobody" (Effect.Unhandled E.E) (fun () ->
      run w (fun () -> Effect.perform E.E));
  int "the worker continues" 1 (run w (fun () -> 1))

(* Functions of a promise run on the worker, and may raise. *)
let callbacks w =
  let gate = Promise.create () in
  let job = held w gate ignore in
  let called = Promise.create () in
  Promise.on_resolve job (fun _ -> raise Boom);
  Promise.on_resolve job (fun _ -> Promise.fill called ());
  Promise.fill gate ();
  Promise.await called;
  int "the worker continues" 1 (run w (fun () -> 1))

(* A mutex is held over turns of two workers. *)
let excludes () =
  with_workers ~domains:2 @@ fun w ->
  let mutex = Mutex.create () and n = ref 0 in
  let add () =
    Mutex.protect mutex (fun () ->
        let before = !n in
        Tasks.yield ();
        n := before + 1)
  in
  List.iter Promise.await (List.init 1000 (fun _ -> submit w add));
  int "count" 1000 !n

let meet () =
  with_workers ~domains:2 @@ fun w ->
  let pair _ =
    let there = Mvar.create_empty () and back = Mvar.create_empty () in
    let ping () =
      for i = 1 to 100 do
        Mvar.put there i;
        if Mvar.take back <> i then failwith "another number"
      done
    and pong () =
      for _ = 1 to 100 do
        Mvar.put back (Mvar.take there)
      done
    in
    [ submit w ping; submit w pong ]
  in
  List.iter Promise.await (List.concat_map pair (List.init 100 Fun.id))

(* Neither the workers nor the pool keep what has ended. *)
let forgets w =
  let weak = Weak.create 2 in
  let make () =
    let argument = ref 1 in
    Weak.set weak 0 (Some argument);
    let value =
      run w (fun () ->
          Tasks.yield ();
          ref !argument)
    in
    Weak.set weak 1 (Some value);
    int "value" 1 !value
  in
  (Sys.opaque_identity make) ();
  run w ignore;
  eventually "collected" (fun () ->
      Gc.full_major ();
      not (Weak.check weak 0 || Weak.check weak 1))

(* A worker takes a core from the moment when it is woken until it sleeps. *)
let takes_cores () =
  let busy = Concord__core__Domains.workers in
  let before = busy () in
  (* A worker that has just been started looks for jobs before it sleeps. *)
  let taken n =
    eventually (Printf.sprintf "%d workers are busy" n) (fun () ->
        busy () = before + n)
  in
  let sleep () = taken 0 in
  with_workers ~domains:2 (fun w ->
      sleep ();
      let first = occupy w in
      taken 1;
      let second = occupy w in
      taken 2;
      first ();
      taken 1;
      second ();
      sleep ();
      let gate = Promise.create () in
      let waits = held w gate ignore in
      sleep ();
      Promise.fill gate ();
      Promise.await waits;
      sleep ());
  int "cores that workers take at the end" before (busy ())

(* However its workers fall asleep and wake up, at rest none of them counts. Threads and jobs that
   wait don't count either. *)
let counts_exactly () =
  let busy = Concord__core__Domains.workers in
  let before = busy () and gate = Promise.create () in
  let wait () = Promise.await gate in
  let threads = List.init 1000 (fun _ -> Thread.create wait ()) in
  with_workers ~domains:4 (fun w ->
      let taken n =
        eventually (Printf.sprintf "%d workers are busy" n) (fun () ->
            busy () = before + n)
      in
      let jobs = List.init 1000 (fun _ -> submit w wait) in
      taken 0;
      for i = 1 to 1000 do
        match i mod 4 with
        | 0 -> run w ignore
        | 1 -> raises "its promise" Boom (fun () -> run w culprit)
        | 2 ->
            let promise, stop = submit_stoppable w forever in
            ignore (stop () : bool);
            failed promise Cancelled
        | _ ->
            let one = submit w Tasks.yield in
            run w Tasks.yield;
            Promise.await one
      done;
      taken 0;
      let release = List.init 4 (fun _ -> occupy w) in
      taken 4;
      List.iter (fun release -> release ()) release;
      taken 0;
      Promise.fill gate ();
      List.iter Promise.await jobs;
      taken 0);
  List.iter Thread.join threads;
  int "at the end" before (busy ())

(* --- Cancelled callers ------------------------------------------------------------ *)

(* [f] runs in a task of Concord_fifo, which is cancelled once [ready] is filled. *)
let cancelled f ready =
  Fifo.run @@ fun () ->
  let task = Fifo.fork f in
  Promise.await ready;
  Fifo.cancel task;
  Fifo.join task

let withdraws call w =
  let free = occupy w in
  let ready = Promise.create () in
  cancelled
    (fun () ->
      Promise.fill ready ();
      call w (fun () -> Alcotest.fail "it began"))
    ready;
  free ();
  run w ignore

let continues w =
  let begun = Promise.create () and gate = Promise.create () in
  let ended = Promise.create () in
  let job () =
    Promise.fill begun ();
    Promise.await gate;
    Promise.fill ended ()
  in
  cancelled (fun () -> run w job) begun;
  Promise.fill gate ();
  Promise.await ended

let on_stop f w =
  let goes_on = ref false in
  let job token =
    goes_on := true;
    Fun.protect ~finally:(fun () -> goes_on := false) (fun () -> f token)
  in
  match Tasks.with_timeout 0.001 (fun () -> run_stoppable w job) with
  | None -> no "it continues" !goes_on
  | Some () -> Alcotest.fail "it returned"

let answers outcome f w =
  let begun = Promise.create () and found = ref None in
  let job token =
    Promise.fill begun ();
    f token
  in
  cancelled
    (fun () ->
      found :=
        Some
          (match run_stoppable w job with v -> Ok v | exception e -> Error e);
      Tasks.yield ();
      Alcotest.fail "it continued")
    begun;
  yes "its outcome" (!found = Some outcome)

let returns token = try compute token with Cancelled -> 7
let fails token = try compute token with Cancelled -> raise Boom
let cancelled_by_host = answers (Error Fifo.Cancelled) compute

(* The wait is protected, so it goes on, and the next one doesn't. *)
let protected w =
  let begun = Promise.create () and gate = Promise.create () in
  let seen = ref [] in
  let see v = seen := v :: !seen in
  let promise, cancel =
    submit_stoppable w (fun token ->
        Promise.fill begun ();
        Tasks.protect (fun () -> Promise.await gate);
        see (is_stopped token);
        see (Tasks.is_cancelled ());
        try Tasks.yield () with Cancelled -> raise Boom)
  in
  Promise.await begun;
  run w ignore;
  no "it has begun" (cancel ());
  run w ignore;
  no "it waits" (Promise.is_resolved promise);
  Promise.fill gate ();
  failed promise Boom;
  yes "stopped" (!seen = [ true; true ])

let told f w =
  let begun = Promise.create () in
  let promise, cancel =
    submit_stoppable w (fun token ->
        Promise.fill begun ();
        f token)
  in
  Promise.await begun;
  no "it has begun" (cancel ());
  no "still" (cancel ());
  failed promise Cancelled;
  no "it has ended" (cancel ())

let withdrawn w =
  let free = occupy w in
  let promise, cancel =
    submit_stoppable w (fun _ -> Alcotest.fail "it began")
  in
  yes "in time" (cancel ());
  no "twice" (cancel ());
  failed promise Cancelled;
  free ();
  run w ignore

(* --- The end ---------------------------------------------------------------------- *)

let awaits_all () =
  let ended = Atomic.make 0 in
  let rec grow w n () =
    if n > 0 then begin
      ignore (submit w (grow w (n - 1)) : unit Promise.t);
      Tasks.yield ();
      ignore (submit w (grow w (n - 1)) : unit Promise.t)
    end;
    Atomic.incr ended
  in
  with_workers ~domains:2 (fun w -> grow w 6 ());
  int "jobs" 127 (Atomic.get ended)

let tells () =
  let w = ref None in
  let job =
    with_workers ~domains:1 ~grace:0.01 @@ fun workers ->
    w := Some workers;
    held workers (Promise.create ()) ignore
  in
  failed job Cancelled;
  let late = submit (Option.get !w) (fun () -> Alcotest.fail "it began") in
  yes "at once" (Promise.is_resolved late);
  failed late Lost;
  raises "run" Lost (fun () -> run (Option.get !w) ignore)

(* The second job would begin after the first one has ended. *)
let tells_computing () =
  let jobs =
    with_workers ~domains:1 ~grace:0.2 @@ fun w ->
    let first = fst (submit_stoppable w compute) in
    [ first; submit w (fun () -> Alcotest.fail "it began") ]
  in
  List.iter (fun job -> failed job Cancelled) jobs

(* The first job never checks, so those behind it never begin. Later it waits, protected, and
   continues, although nobody waits for its promise any more. *)
let loses () =
  let release = Atomic.make false and gate = Promise.create () in
  let ended = Promise.create () and w = ref None in
  let stubborn begun () =
    Promise.fill begun ();
    while not (Atomic.get release) do
      Domain.cpu_relax ()
    done;
    Tasks.protect (fun () -> Promise.await gate);
    raises "lost" Lost (fun () -> run (Option.get !w) ignore);
    Promise.fill ended ()
  in
  let jobs =
    with_workers ~domains:1 ~grace:0.01 @@ fun workers ->
    w := Some workers;
    let waiting = held workers (Promise.create ()) ignore in
    let begun = Promise.create () in
    let first = submit workers (stubborn begun) in
    Promise.await begun;
    let second = submit workers (fun () -> Alcotest.fail "it began") in
    [ waiting; first; second ]
  in
  List.iter (fun job -> failed job Lost) jobs;
  let late = submit (Option.get !w) (fun () -> Alcotest.fail "it began") in
  yes "at once" (Promise.is_resolved late);
  failed late Lost;
  Atomic.set release true;
  Promise.fill gate ();
  Promise.await ended;
  eventually "the workers end" (fun () ->
      match Promise.peek (submit (Option.get !w) ignore) with
      | Some (Error Lost) -> true
      | Some _ | None -> false)

(* A domain doesn't end before its threads. *)
let leaves_a_thread () =
  let gate = Promise.create () in
  let ended =
    with_workers ~domains:1 ~grace:0.01 (fun w ->
        run w (fun () -> Promise.in_thread (fun () -> Promise.await gate)))
  in
  no "it waits" (Promise.is_resolved ended);
  Promise.fill gate 3;
  int "the thread continues" 3 (Promise.await ended)

let without_bound () =
  let gate = Promise.create () and fill = ref ignore in
  let job =
    with_workers ~domains:1 ~grace:Float.infinity @@ fun w ->
    let job = held w gate (fun () -> 3) in
    fill := thread (fun () -> Promise.fill gate ());
    job
  in
  int "it has ended" 3 (Promise.await job);
  !fill ()

let raises_through () =
  let ended = ref false in
  raises "of the function" Boom (fun () ->
      with_workers ~domains:1 (fun w ->
          ignore
            (submit w (fun () ->
                 Tasks.sleep 0.001;
                 ended := true)
              : unit Promise.t);
          raise Boom));
  yes "the job has ended" !ended

let arguments () =
  let invalid what message f = raises what (Invalid_argument message) f in
  invalid "domains" "Workers.with_workers: domains must be at least 1, not 0"
    (fun () -> with_workers ~domains:0 ignore);
  invalid "grace" "Workers.with_workers: grace must be at least 0, but is -1"
    (fun () -> with_workers ~grace:(-1.) ignore);
  invalid "grace" "Workers.with_workers: grace must be at least 0, but is nan"
    (fun () -> with_workers ~grace:Float.nan ignore);
  with_workers (fun w -> run w ignore)

(* Those that were started must end. Otherwise the second call could start none. *)
let too_many () =
  for _ = 1 to 2 do
    match with_workers ~domains:1_000 ignore with
    | () -> Alcotest.fail "it started 1,000 domains"
    | exception Failure _ -> with_workers ~domains:2 (fun w -> run w ignore)
  done

(* --- Races ------------------------------------------------------------------------ *)

(* Threads submit while workers end, and each promise is resolved. *)
let submit_while_ending () =
  let current = Atomic.make None and stop = Atomic.make false in
  let submitted = Atomic.make 0 in
  let submitter () =
    while not (Atomic.get stop) do
      match Atomic.get current with
      | None -> Thread.yield ()
      | Some w -> (
          Atomic.incr submitted;
          let _, cancel = submit_stoppable w (fun _ -> Tasks.yield ()) in
          if Atomic.get submitted land 1 = 0 then ignore (cancel () : bool);
          match run w Tasks.yield with
          | () -> ()
          | exception (Lost | Cancelled) -> Thread.yield ())
    done
  in
  let join_domain = domain submitter and join_thread = thread submitter in
  for i = 1 to Race.often 30 do
    let grace = if i land 1 = 0 then 0. else 1. in
    with_workers
      ~domains:(1 + (i land 1))
      ~grace
      (fun w ->
        Atomic.set current (Some w);
        run w ignore)
  done;
  Atomic.set stop true;
  join_domain ();
  join_thread ();
  yes "some were submitted" (Atomic.get submitted > 0)

let cancel_at_random () =
  Fifo.run @@ fun () ->
  with_workers ~domains:2 @@ fun w ->
  let count = Atomic.make 0 in
  let job token =
    Atomic.incr count;
    Fun.protect ~finally:(fun () -> Atomic.decr count) @@ fun () ->
    for _ = 1 to 5 do
      check token;
      Tasks.sleep 0.0002
    done
  in
  let one i =
    let seconds = float (i mod 17) *. 0.0001 in
    ignore (Tasks.with_timeout seconds (fun () -> run_stoppable w job))
  in
  for _ = 1 to Race.often 3 do
    Tasks.iter one (List.init 100 Fun.id);
    int "none outlives its call" 0 (Atomic.get count)
  done

(* Jobs give jobs to their own workers, and are told at all depths. *)
let cancel_nested domains () =
  Fifo.run @@ fun () ->
  with_workers ~domains @@ fun w ->
  let count = Atomic.make 0 in
  let within f =
    ignore
      (Tasks.with_timeout (Random.float 0.003) (fun () -> run_stoppable w f))
  in
  let rec job depth token =
    Atomic.incr count;
    Fun.protect ~finally:(fun () -> Atomic.decr count) @@ fun () ->
    check token;
    if depth = 0 then Tasks.sleep (Random.float 0.002)
    else within (job (depth - 1))
  in
  for _ = 1 to Race.often 3 do
    Tasks.iter (fun _ -> within (job 4)) (List.init 50 Fun.id);
    int "none outlives its call" 0 (Atomic.get count)
  done

(* --- Signal handlers -------------------------------------------------------------- *)

(* At whatever moment a handler raises in [submit], the job runs at most once, the workers
   continue, and the end waits for nothing. *)
let submit_interrupted () =
  let rec from n =
    let runs = Atomic.make 0 in
    let outcome =
      with_workers ~domains:1 ~grace:Float.infinity (fun w ->
          let outcome =
            Moments.at n (fun () -> submit w (fun () -> Atomic.incr runs))
          in
          Moments.unwatched (fun () -> run w ignore);
          outcome)
    in
    let runs = Atomic.get runs in
    (match outcome with
    | Ok promise ->
        Promise.await promise;
        int "it ran" 1 runs
    | Error Moments.Interrupt -> yes "at most once" (runs <= 1)
    | Error e -> raise e);
    if Moments.was_raised () then from (n + 1)
  in
  from 1

(* A handler raises in the resumer of a job. *)
let resume_interrupted () =
  let rec from n =
    with_workers ~domains:1 ~grace:Float.infinity (fun w ->
        let gate = Promise.create () in
        let job = held w gate (fun () -> n) in
        run w ignore;
        let outcome = Moments.at n (fun () -> Promise.fill gate ()) in
        (match outcome with
        | Ok () | Error Moments.Interrupt -> ()
        | Error e -> raise e);
        ignore (Promise.try_fill gate () : bool);
        int "it continued" n (Promise.await job));
    if Moments.was_raised () then from (n + 1)
  in
  from 1

(* A handler submits, and interrupts the thread that submits. *)
let submit_in_handler () =
  let by_handler = Mailbox.create () and over = Atomic.make false in
  with_workers ~domains:1 @@ fun w ->
  let handle _ = Mailbox.add by_handler (submit w ignore) in
  let before = Sys.signal Sys.sigusr1 (Signal_handle handle) in
  let kill () =
    ignore (Thread.sigmask SIG_BLOCK [ Sys.sigusr1 ] : int list);
    while not (Atomic.get over) do
      Unix.kill (Unix.getpid ()) Sys.sigusr1;
      Unix.sleepf 0.00001
    done
  in
  let join = domain kill in
  eventually ~pause:ignore "many are interrupted" (fun () ->
      List.iter Promise.await (List.init 100 (fun _ -> submit w ignore));
      Mailbox.length by_handler > 1_000);
  Atomic.set over true;
  join ();
  Sys.set_signal Sys.sigusr1 before;
  List.iter Promise.await (Mailbox.drain by_handler)

(* Finalisers run anywhere on the workers, also outside of jobs. They may hit jobs, but the
   workers continue. *)
let finalisers_raise () =
  (* When a domain has ended, another one runs its finalisers. *)
  let armed = Atomic.make true in
  let finalise () = if Atomic.get armed then raise Boom in
  let busy = Concord__core__Domains.workers in
  let before = busy () in
  let job () =
    Gc.finalise_last finalise (ref 0);
    Tasks.yield ()
  in
  let jobs = ref [] in
  with_workers ~domains:2 ~grace:0.01 (fun w ->
      for _ = 1 to Race.often 200 do
        for _ = 1 to 50 do
          jobs := submit w job :: !jobs
        done;
        Gc.minor ()
      done;
      Atomic.set armed false;
      let begun = Atomic.make 0 in
      let meet () =
        Atomic.incr begun;
        while Atomic.get begun < 2 do
          Domain.cpu_relax ()
        done
      in
      let both = List.init 2 (fun _ -> submit w meet) in
      List.iter
        (fun job ->
          yes "a worker takes it"
            (Event.sync_before 20. (Promise.await_evt job) = Some ()))
        both);
  (* A job that was lost is in no queue, so the end of the pool doesn't find it. *)
  int "jobs without a result" 0
    (List.length (List.filter (fun j -> not (Promise.is_resolved j)) !jobs));
  eventually "no worker counts as busy" (fun () -> busy () = before)

let () =
  let test_one name f = test name (one f) in
  Check.run "Workers"
    [
      ( "jobs",
        [
          test_one "results" results;
          test_one "nested" nested;
          test_one "a job that waits frees its worker" waits;
          test_one "order" in_order;
          test_one "turns" yields;
          test_one "tasks and loops in a job" tasks;
          test_one "an effect without a handler" unhandled;
          test_one "functions of a promise raise" callbacks;
          test "a mutex" excludes;
          test "meetings" meet;
          test_one "memory" forgets;
          test "cores" takes_cores;
          test "cores, beside a thousand idle threads and jobs" counts_exactly;
        ] );
      ( "cancelled callers",
        [
          test_one "run withdraws" (withdraws run);
          test_one "run_stoppable withdraws"
            (withdraws (fun w f -> run_stoppable w (fun _ -> f ())));
          test_one "run leaves the job" continues;
          test_one "it computes" (on_stop compute);
          test_one "it waits" (on_stop forever);
          test_one "its value counts" (answers (Ok 7) returns);
          test_one "its failure counts" (answers (Error Boom) fails);
          test_one "the host's exception" cancelled_by_host;
          test_one "protected" protected;
          test_one "told while it computes" (told compute);
          test_one "told while it waits" (told forever);
          test_one "withdrawn" withdrawn;
        ] );
      ( "the end",
        [
          test "all jobs are awaited" awaits_all;
          test "a job that waits is told" tells;
          test "a job that computes is told" tells_computing;
          test "jobs are lost" loses;
          test "a job leaves a thread" leaves_a_thread;
          test "without a bound" without_bound;
          test "the function raises" raises_through;
          test "arguments" arguments;
          test "a domain can't be started" too_many;
        ] );
      ( "races",
        [
          test "submitting while workers end" submit_while_ending;
          test "cancelling at random" cancel_at_random;
          test "cancelling nested jobs, one worker" (cancel_nested 1);
          test "cancelling nested jobs, two workers" (cancel_nested 2);
        ] );
      (* In bytecode, even a handler that doesn't raise is unsafe while a task performs an
         effect. *)
      ( "signal handlers",
        List.concat_map Interrupting.only
          [
            test "submit" submit_interrupted;
            test "a resumer" resume_interrupted;
            test "submit in a handler" submit_in_handler;
            test "finalisers raise" finalisers_raise;
          ] );
    ]
