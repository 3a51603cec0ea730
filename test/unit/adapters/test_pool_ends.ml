(* Concord_domainslib: the end of pools that were made by Domainslib. *)

open Pools
open Concord
open Concord_test_support
open Check
module Pool = Domainslib.Task
module Fifo = Concord_fifo
open Concord_domainslib

(* --- drain, teardown ------------------------------------------------------- *)

let with_own_pool ?(num_domains = 1) f =
  let pool = Pool.setup_pool ~num_domains () in
  Fun.protect
    ~finally:(fun () ->
      match Pool.teardown_pool pool with () | (exception _) -> ())
    (fun () -> f pool)

let drains () =
  with_own_pool @@ fun pool ->
  drain pool;
  let gate = Promise.create () in
  let job = held pool gate ignore in
  let began = Atomic.make 0 in
  let drainer () =
    Atomic.incr began;
    drain pool;
    yes "it has ended" (Promise.is_resolved job)
  in
  let joins = List.init 3 (fun _ -> thread drainer) in
  eventually "all began" (fun () -> Atomic.get began = 3);
  Fifo.run (fun () ->
      let waiter =
        Fifo.fork (fun () ->
            raises "drain" Fifo.Cancelled (fun () -> drain pool))
      in
      Fifo.cancel waiter;
      Fifo.join waiter);
  Promise.fill gate ();
  List.iter (fun join -> join ()) joins;
  drain pool

(* The jobs submit jobs, and [drain] must wait for those as well. *)
let drains_all () =
  with_own_pool ~num_domains:2 @@ fun pool ->
  let ended = Atomic.make 0 in
  let rec grow n () =
    if n > 0 then begin
      ignore_job (submit pool (grow (n - 1)));
      ignore_job (submit pool (grow (n - 1)))
    end;
    Atomic.incr ended
  in
  for _ = 1 to 20 do
    ignore_job (submit pool (grow 5));
    drain pool;
    int "all" 0 (Atomic.get ended mod 63)
  done

let tears_down () =
  let pool = Pool.setup_pool ~num_domains:1 () in
  attach pool;
  let gate = Promise.create () in
  let job = held pool gate ignore in
  let fill = thread (fun () -> Promise.fill gate ()) in
  teardown pool;
  yes "it has ended" (Promise.is_resolved job);
  fill ();
  raises "again"
    (Invalid_argument "Concord_domainslib.teardown: the pool was torn down")
    (fun () -> teardown pool)

let tears_down_elsewhere () =
  with_own_pool ~num_domains:1 @@ fun pool ->
  attach pool;
  int "runs" 1 (run pool (fun () -> 1));
  in_domain (fun () ->
      raises "teardown"
        (Invalid_argument
           "Concord_domainslib.teardown: only the domain that attached the \
            pool can tear it down") (fun () -> teardown pool));
  int "still runs" 2 (run pool (fun () -> 2));
  teardown pool

(* --- Pools that are torn down while jobs run ------------------------------- *)

let suspended num_domains () =
  let pool = Pool.setup_pool ~num_domains () in
  attach pool;
  let never = Promise.create () in
  let job = held pool never ignore in
  let all = submit_all pool [ (fun () -> Promise.await never) ] in
  int "runs" 1 (run pool (fun () -> 1));
  let waiter =
    thread (fun () -> raises "a thread" Torn_down (fun () -> Promise.await job))
  in
  Pool.teardown_pool pool;
  raises "await" Torn_down (fun () -> Promise.await job);
  raises "submit_all" Torn_down (fun () -> Promise.await all);
  drain pool;
  waiter ();
  yes "says what to do"
    (contains (Printexc.to_string Torn_down) "Concord_domainslib.drain")

let suspended_in_run () =
  let pool = Pool.setup_pool ~num_domains:1 () in
  attach pool;
  let started = Promise.create () in
  let waiter =
    thread (fun () ->
        raises "run" Torn_down (fun () ->
            run pool (fun () ->
                Promise.fill started ();
                Promise.await (Promise.create ()))))
  in
  Promise.await started;
  int "runs" 1 (run pool (fun () -> 1));
  Pool.teardown_pool pool;
  waiter ()

(* The job runs on one of the pool's domains while the other domain ends. *)
let in_progress () =
  let pool = Pool.setup_pool ~num_domains:2 () in
  attach pool;
  let started = Promise.create () and release = Atomic.make false in
  let job =
    submit pool (fun () ->
        Promise.fill started ();
        eventually ~pause:Domain.cpu_relax "released" (fun () ->
            Atomic.get release);
        6)
  in
  Promise.await started;
  let lost = held pool (Promise.create ()) ignore in
  let free =
    thread (fun () ->
        eventually "a domain has ended" (fun () ->
            Concord__core__Timer.pending () > 0);
        no "not yet" (Promise.is_resolved lost);
        Atomic.set release true)
  in
  Pool.teardown_pool pool;
  free ();
  int "its result" 6 (Promise.await job);
  raises "the other" Torn_down (fun () -> Promise.await lost)

(* --- Pools without domains ------------------------------------------------- *)

let no_domain name =
  Invalid_argument
    ("Concord_domainslib." ^ name
   ^ ": the pool has no domain that could start the job. Make it with \
      num_domains:1 or more, or call this inside of Domainslib.Task.run")

let without_domains () =
  with_own_pool ~num_domains:0 @@ fun pool ->
  let check name f = raises name (no_domain name) (fun () -> f pool) in
  attach pool;
  check "submit" (fun pool -> ignore (submit pool ignore));
  check "run" (fun pool -> run pool ignore);
  check "submit_all" (fun pool -> ignore (submit_all pool []));
  check "parallel_for" (fun pool ->
      ignore (parallel_for pool ~start:0 ~finish:1 ignore));
  eio (fun () -> check "submit" (fun pool -> ignore (submit pool ignore)));
  Fifo.run (fun () -> check "submit" (fun p -> ignore (submit p ignore)));
  int "inside of Task.run" 4 (Pool.run pool (fun () -> run pool (fun () -> 4)));
  check "submit" (fun pool -> ignore (submit pool ignore))

let () =
  Printexc.record_backtrace true;
  Check.run "Pools: the end"
    [
      ( "the end",
        [
          test "drain" drains;
          test "drain: jobs that submit jobs" drains_all;
          test "teardown" tears_down;
          test "teardown on another domain" tears_down_elsewhere;
        ] );
      ( "torn down",
        [
          test "suspended jobs; one domain" (suspended 1);
          test "suspended jobs; two domains" (suspended 2);
          test "suspended in run" suspended_in_run;
          test "a job in progress keeps its result" in_progress;
        ] );
      ("no domain", [ test "submit" without_domains ]);
    ]
