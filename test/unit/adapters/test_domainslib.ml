open Concord
open Concord_test_support
open Check
module Pool = Domainslib.Task
module Fifo = Concord_fifo

exception Boom

let[@inline never] culprit () = if true then raise Boom
let submit = Concord_domainslib.submit
let here () = (Domain.self () :> int)

let with_pool ?(num_domains = 1) f =
  let pool = Pool.setup_pool ~num_domains () in
  Fun.protect ~finally:(fun () -> Pool.teardown_pool pool) (fun () -> f pool)

(* Callers *)

let runs_there pool =
  let caller = here () in
  let p = submit pool here in
  no "not on the caller's domain" (Promise.await p = caller)

let from place () =
  with_pool @@ fun pool ->
  Concord_domainslib.attach pool;
  place (fun () -> runs_there pool)

let unattached place () = place (fun () -> with_pool runs_there)

let from_a_job () =
  with_pool @@ fun pool ->
  let inner () = Promise.await (submit pool (fun () -> 6)) in
  int "value" 7 (Promise.await (submit pool (fun () -> 1 + inner ())))

let from_a_pool_task () =
  with_pool @@ fun pool ->
  let v = Pool.run pool (fun () -> Promise.await (submit pool (fun () -> 5))) in
  int "value" 5 v

let from_everywhere () =
  with_pool @@ fun pool ->
  Concord_domainslib.attach pool;
  let n = 100 and sum = Atomic.make 0 in
  let client () =
    let submit i = submit pool (fun () -> i) in
    let add p = ignore (Atomic.fetch_and_add sum (Promise.await p) : int) in
    List.iter add (List.init n submit)
  in
  let threads = List.init 4 (fun _ -> Thread.create client ()) in
  let domain = Domain.spawn client in
  client ();
  Eio_main.run (fun _ -> Eio.Fiber.both client client);
  Fifo.run client;
  List.iter Thread.join threads;
  Domain.join domain;
  int "sum" (9 * n * (n - 1) / 2) (Atomic.get sum)

(* Jobs *)

let exceptions () =
  with_pool @@ fun pool ->
  let job () =
    (* Recording is switched on for each domain separately. *)
    Printexc.record_backtrace true;
    culprit ()
  in
  let p = submit pool job in
  raises "await" Boom (fun () -> Promise.await p);
  raises_at "culprit" (fun () -> Promise.await p);
  int "the pool still works" 1 (Promise.await (submit pool (fun () -> 1)))

let fib pool n =
  let rec go n =
    if n < 2 then n
    else
      let a = Pool.async pool (fun () -> go (n - 1)) in
      let b = go (n - 2) in
      Pool.await pool a + b
  in
  go n

let parallel_jobs () =
  with_pool @@ fun pool ->
  let jobs = List.init 5 (fun _ -> submit pool (fun () -> fib pool 12)) in
  List.iter (fun p -> int "fib 12" 144 (Promise.await p)) jobs

let jobs_wait_for_each_other () =
  with_pool @@ fun pool ->
  let box = Mvar.create_empty () in
  let taker = submit pool (fun () -> Mvar.take box + Mvar.take box) in
  let putters =
    List.map (fun v -> submit pool (fun () -> Mvar.put box v)) [ 1; 2 ]
  in
  int "sum" 3 (Promise.await taker);
  List.iter Promise.await putters

(* Keeps the pool's only domain busy while [f ()] runs. *)
let while_busy pool f =
  let started = Atomic.make false and release = Atomic.make false in
  let spin () =
    Atomic.set started true;
    while not (Atomic.get release) do
      Domain.cpu_relax ()
    done
  in
  let busy = submit pool spin in
  eventually "it is busy" (fun () -> Atomic.get started);
  Fun.protect f ~finally:(fun () ->
      Atomic.set release true;
      Promise.await busy)

let in_order () =
  with_pool @@ fun pool ->
  traced (List.init 20 string_of_int) @@ fun say ->
  let submit i = submit pool (fun () -> say (string_of_int i)) in
  let jobs = while_busy pool (fun () -> List.init 20 submit) in
  List.iter Promise.await jobs

(* Misuse *)

let torn_down () =
  let pool =
    with_pool (fun pool ->
        runs_there pool;
        pool)
  in
  let check name f =
    raises name
      (Invalid_argument
         ("Concord_domainslib." ^ name ^ ": the pool was torn down"))
      f
  in
  check "submit" (fun () -> ignore (submit pool ignore));
  check "attach" (fun () -> Concord_domainslib.attach pool);
  let fresh = Pool.setup_pool ~num_domains:1 () in
  Pool.teardown_pool fresh;
  check "submit" (fun () -> ignore (submit fresh ignore))

let no_place name =
  Invalid_argument
    ("Concord_domainslib." ^ name
   ^ ": the pool has no slot for the calling domain. First call attach from \
      the domain that uses Domainslib.Task.run or async")

(* Only one domain can attach the pool, and the same domain must tear it down. *)
let place_taken () =
  let pool = Pool.setup_pool ~num_domains:1 () in
  let taken = Promise.create () and leave = Promise.create () in
  let attached = Promise.create () and done_ = Promise.create () in
  let domain =
    Domain.spawn (fun () ->
        Pool.run pool (fun () ->
            (* The pool's own domain is registered once it has run a task. *)
            let ran = Atomic.make false in
            let task = Pool.async pool (fun () -> Atomic.set ran true) in
            eventually "it ran" (fun () -> Atomic.get ran);
            Pool.await pool task);
        Promise.fill taken ();
        Promise.await leave;
        Concord_domainslib.attach pool;
        Promise.fill attached ();
        Promise.await done_;
        Pool.teardown_pool pool)
  in
  Promise.await taken;
  raises "submit" (no_place "submit") (fun () -> submit pool ignore);
  raises "attach" (no_place "attach") (fun () -> Concord_domainslib.attach pool);
  Promise.fill leave ();
  Promise.await attached;
  (* From here on, any thread can submit. *)
  runs_there pool;
  Promise.fill done_ ();
  Domain.join domain

let attach_twice () =
  with_pool @@ fun pool ->
  Concord_domainslib.attach pool;
  Concord_domainslib.attach pool;
  in_domain (fun () -> Concord_domainslib.attach pool);
  in_domain (fun () -> runs_there pool);
  int "Task.run here still works" 3 (Pool.run pool (fun () -> 3))

let two_pools () =
  with_pool @@ fun a ->
  with_pool @@ fun b ->
  let pa = submit a here and pb = submit b here in
  no "different domains" (Promise.await pa = Promise.await pb)

(* Concord's records about a pool must not keep the pool from being collected. *)
let collected () =
  let collected = Atomic.make false in
  let[@inline never] use () =
    with_pool (fun pool ->
        Gc.finalise (fun _ -> Atomic.set collected true) pool;
        runs_there pool)
  in
  use ();
  eventually "the pool is collected" (fun () ->
      Gc.full_major ();
      Atomic.get collected)

(* A signal handler submits, and interrupts threads that submit. It doesn't run on the
   pool's own domain, where the documentation forbids that. *)
let from_a_signal_handler () =
  let mask how = ignore (Thread.sigmask how [ Sys.sigusr1 ] : int list) in
  mask SIG_BLOCK;
  with_pool @@ fun pool ->
  Concord_domainslib.attach pool;
  let by_handler = Mailbox.create () and over = Atomic.make false in
  let handle _ = Mailbox.add by_handler (submit pool ignore) in
  let before = Sys.signal Sys.sigusr1 (Signal_handle handle) in
  let kill () =
    while not (Atomic.get over) do
      Unix.kill (Unix.getpid ()) Sys.sigusr1;
      Unix.sleepf 0.00001
    done
  in
  let other = Domain.spawn kill in
  mask SIG_UNBLOCK;
  eventually ~pause:ignore "many are interrupted" (fun () ->
      let jobs = List.init 100 (fun _ -> submit pool ignore) in
      List.iter Promise.await jobs;
      Mailbox.length by_handler > 2_000);
  Atomic.set over true;
  Domain.join other;
  Sys.set_signal Sys.sigusr1 before;
  List.iter Promise.await (Mailbox.drain by_handler)

let eio f = Eio_main.run (fun _ -> f ())

let () =
  run "Domainslib"
    [
      ( "submit",
        [
          test "from the main thread" (from (fun f -> f ()));
          test "from a thread" (from in_thread);
          test "from a domain" (from in_domain);
          test "from an Eio fiber" (from eio);
          test "from a task of Fifo" (from (fun f -> Fifo.run f));
          test "from a thread, not attached" (unattached in_thread);
          test "from a domain, not attached" (unattached in_domain);
          test "from an Eio fiber, not attached" (unattached eio);
          test "from a signal handler" from_a_signal_handler;
          test "from a job" from_a_job;
          test "from a task of the pool" from_a_pool_task;
          test "900 jobs, from everywhere" from_everywhere;
        ] );
      ( "jobs",
        [
          test "exceptions keep their backtraces" exceptions;
          test "use the pool" parallel_jobs;
          test "wait for one another" jobs_wait_for_each_other;
          test "start in the order of submission" in_order;
          test "two pools" two_pools;
          test "a pool that is no longer used is collected" collected;
        ] );
      ( "misuse",
        [
          test "a pool that was torn down" torn_down;
          test "another domain has attached it" place_taken;
          test "attach, twice and from another domain" attach_twice;
        ] );
    ]
