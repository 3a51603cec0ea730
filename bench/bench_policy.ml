open Case
open Concord

(* Compares orders in which ready tasks run, on one domain. One program forks a tree of tasks,
   and the other answers short requests beside long jobs. *)

(* --- A tree of tasks --------------------------------------------------------------- *)

let depth = 14

let rec fib n =
  if n < 2 then n
  else
    let a, b = Tasks.both (fun () -> fib (n - 1)) (fun () -> fib (n - 2)) in
    a + b

let rec fib_domainslib pool n =
  if n < 2 then n
  else
    let open Domainslib.Task in
    let a = async pool (fun () -> fib_domainslib pool (n - 1)) in
    let b = fib_domainslib pool (n - 2) in
    await pool a + b

let trees run fib n =
  let sum = ref 0 in
  let start = Meter.now () in
  run (fun () ->
      for _ = 1 to n do
        sum := !sum + fib depth
      done);
  let time = Meter.ns_since start in
  if !sum <> n * 377 then failwith "the tasks computed a wrong sum";
  time

let in_domainslib n =
  let open Domainslib.Task in
  let pool = setup_pool ~num_domains:0 () in
  let time = trees (run pool) (fib_domainslib pool) n in
  teardown_pool pool;
  time

let tree =
  let case = "policy-tree" in
  let ours host run = row ~case ~impl:"concord" ~host (Time (trees run fib)) in
  {
    title =
      Printf.sprintf
        "the number %d of Fibonacci, with a task for each addition, 1 domain"
        depth;
    baseline = ours "fifo" (fun f -> Concord_fifo.run f);
    others =
      [
        ours "policies-fifo" (fun f -> Concord_policies.Fifo.run f);
        ours "policies-lifo" (fun f -> Concord_policies.Lifo.run f);
        row ~case ~impl:"domainslib" ~host:"domainslib" (Time in_domainslib);
      ];
  }

(* --- Short requests beside long jobs -------------------------------------------------- *)

let jobs = 8
let job_us = 100.
let request_us = 20.
let requests_per_second = 10_000.

let compute us =
  let start = Meter.now () in
  while Meter.ns_since start < us *. 1e3 do
    ignore (Sys.opaque_identity () : unit)
  done

(* A scheduler's functions. [urgent] is for the task that accepts requests, and [short] is for
   a request. *)
type scheduler = {
  run : (unit -> unit) -> unit;
  urgent : (unit -> unit) -> unit;
  short : (unit -> unit) -> unit;
}

let simple run = { run; urgent = (fun f -> f ()); short = (fun f -> f ()) }

let schedulers =
  let open Concord_policies in
  let deadline () = Unix.gettimeofday () +. 0.001 in
  [
    ("fifo", simple (fun f -> Fifo.run f));
    ("lifo", simple (fun f -> Lifo.run f));
    ( "levels",
      {
        run = (fun f -> Levels.run ~priority:2 f);
        urgent = Levels.with_priority 0;
        short = Levels.with_priority 1;
      } );
    ( "deadline",
      {
        run = (fun f -> Deadline.run f);
        urgent = Deadline.with_priority 0.;
        short = (fun f -> Deadline.with_priority (deadline ()) f);
      } );
  ]

(* Requests are due at random times, even if earlier requests have not been answered. *)
let send requests seconds () =
  let random = Random.State.make [| 1 |] in
  let start = Meter.now () in
  let rec next due =
    if due < seconds *. 1e9 then begin
      while Meter.ns_since start < due do
        Domain.cpu_relax ()
      done;
      Mailbox.add requests (Meter.now ());
      let gap = -.log (1. -. Random.State.float random 1.) in
      next (due +. (gap *. 1e9 /. requests_per_second))
    end
  in
  next 0.;
  Mailbox.close requests

let requests { run; urgent; short } seconds =
  let requests = Mailbox.create () and over = ref false in
  let answered = Bench_latency.samples () in
  let job () =
    while not !over do
      compute job_us;
      Tasks.yield ()
    done
  in
  let answer due () =
    compute request_us;
    Bench_latency.add answered (Meter.ns_since due)
  in
  let sender = Domain.spawn (send requests seconds) in
  run (fun () ->
      Scope.run @@ fun scope ->
      for _ = 1 to jobs do
        Scope.fork scope job
      done;
      urgent @@ fun () ->
      let accept due = short (fun () -> Scope.fork scope (answer due)) in
      Mailbox.iter accept requests;
      over := true);
  Domain.join sender;
  Bench_latency.answers answered

let latency =
  Bench_latency.spread ~name:"policy-requests"
    ~title:
      (Printf.sprintf
         "the time from when a request is due to its answer: %.0f requests of \
          %.0f us each second, at random, beside %d jobs that compute and \
          yield every %.0f us, 1 domain"
         requests_per_second request_us jobs job_us)
    (List.map
       (fun (name, scheduler) -> ("concord", name, requests scheduler))
       schedulers)

let group =
  {
    name = "policy";
    doc = "which of the ready tasks is next, and what that changes";
    comparisons = tree :: latency;
  }
