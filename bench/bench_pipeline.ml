open Case
open Domainslib

(* --- Stages ---------------------------------------------------------------------- *)

let workers = 4

(* Marks the end. It is not an item. *)
let last = 0

(* The result of a worker is [centre - item], so an item that is passed on unchanged gives a
   wrong sum. The number of turns is odd, and each turn depends on the one before. *)
let centre = 1_000_000_000

let rec turned turns item =
  if turns = 0 then item else turned (turns - 1) (centre - item)

(* This number of turns takes about 1 us. *)
let a_microsecond = 1_201
let sum_of_results n = (n * centre) - (n * (n + 1) / 2)

(* The three stages process [meeting] items before the clock is read, and [n] items after
   that. *)
type stages = {
  parse : unit -> unit;
  worker : unit -> unit;  (** Is run [workers] times. *)
  aggregate : unit -> float;
}

let meeting = Host.meeting

let stages (queue : unit -> Bounded.t) ~turns n =
  let parsed = queue () and results = queue () in
  let parse () =
    for item = 1 to meeting + n do
      parsed.add item
    done;
    for _ = 1 to workers do
      parsed.add last
    done
  in
  let rec worker () =
    let item = parsed.take () in
    if item <> last then begin
      results.add (turned turns item);
      worker ()
    end
  in
  let rec sum_of n sum =
    if n = 0 then sum else sum_of (n - 1) (sum + results.take ())
  in
  let aggregate () =
    let before = sum_of meeting 0 in
    let start = Meter.now () in
    let sum = sum_of n before in
    let ns = Meter.ns_since start in
    Host.check "sum of the results" (sum_of_results (meeting + n)) sum;
    ns
  in
  { parse; worker; aggregate }

let times n f =
  for _ = 1 to n do
    f ()
  done

(* --- The hosts of the stages ------------------------------------------------------ *)

let in_one (host : Host.t) { parse; worker; aggregate } =
  host.run (fun fork ->
      fork parse;
      times workers (fun () -> fork worker);
      aggregate ())

(* Half of the workers run with the first stage, and half with the last stage. *)
let in_two (host : Host.t) { parse; worker; aggregate } =
  let half fork = times (workers / 2) (fun () -> fork worker) in
  let first =
    Domain.spawn (fun () ->
        host.run (fun fork ->
            half fork;
            parse ()))
  in
  let ns =
    host.run (fun fork ->
        half fork;
        aggregate ())
  in
  Domain.join first;
  ns

(* All stages are tasks of a pool of two domains. One of them is the caller's domain. *)
let in_pool { parse; worker; aggregate } =
  let pool = Task.setup_pool ~num_domains:1 () in
  let ns =
    Task.run pool (fun () ->
        let fork f = Task.async pool f in
        let all = fork parse :: List.init workers (fun _ -> fork worker) in
        let ns = aggregate () in
        List.iter (Task.await pool) all;
        ns)
  in
  Task.teardown_pool pool;
  ns

(* Only the second stage is in the pool, which has two domains of its own. *)
let beside_pool { parse; worker; aggregate } =
  let pool = Task.setup_pool ~num_domains:2 () in
  Concord_domainslib.attach pool;
  let submit _ = Concord_domainslib.submit pool worker in
  let all = List.init workers submit in
  let ns =
    Host.fifo.run (fun fork ->
        fork parse;
        let ns = aggregate () in
        List.iter Concord.Promise.await all;
        ns)
  in
  Task.teardown_pool pool;
  ns

let beside_workers { parse; worker; aggregate } =
  Concord.Workers.with_workers ~domains:2 (fun w ->
      let submit _ = Concord.Workers.submit w worker in
      let all = List.init workers submit in
      Host.fifo.run (fun fork ->
          fork parse;
          let ns = aggregate () in
          List.iter Concord.Promise.await all;
          ns))

(* The same in Eio. Each domain of its pool runs two of the workers. *)
let beside_executor_pool { parse; worker; aggregate } =
  Eio_main.run (fun env ->
      Eio.Switch.run (fun sw ->
          let domains = Eio.Stdenv.domain_mgr env in
          let pool = Eio.Executor_pool.create ~sw ~domain_count:2 domains in
          let submit () =
            Eio.Executor_pool.submit_exn pool ~weight:0.5 worker
          in
          times workers (fun () -> Eio.Fiber.fork ~sw submit);
          Eio.Fiber.fork ~sw parse;
          aggregate ()))

(* Uses no queues. Each domain takes 100 items at a time through all stages. *)
let chunked ~turns n =
  let pool = Task.setup_pool ~num_domains:1 () in
  let sum n =
    Task.parallel_for_reduce pool ( + ) 0 ~chunk_size:100 ~start:1 ~finish:n
      ~body:(turned turns)
  in
  let ns =
    Task.run pool (fun () ->
        Host.check "sum of the results" (sum_of_results meeting) (sum meeting);
        let start = Meter.now () in
        let sum = sum n in
        let ns = Meter.ns_since start in
        Host.check "sum of the results" (sum_of_results n) sum;
        ns)
  in
  Task.teardown_pool pool;
  ns

(* --- Rows ------------------------------------------------------------------------------ *)

let comparison case ~turns ~title =
  let row impl host queue place =
    row ~case ~impl ~host (Time (fun n -> place (stages queue ~turns n)))
  in
  {
    title;
    baseline = row "eio" "eio" Bounded.eio (in_one Host.eio);
    others =
      [
        row "eio" "eio+eio" Bounded.eio (in_two Host.eio);
        row "eio" "eio+pool" Bounded.eio beside_executor_pool;
        row "concord" "eio" Bounded.stream (in_one Host.eio);
        row "concord" "eio+eio" Bounded.stream (in_two Host.eio);
        row "concord" "fifo" Bounded.stream (in_one Host.fifo);
        row "concord" "fifo+fifo" Bounded.stream (in_two Host.fifo);
        row "concord" "fifo+pool" Bounded.stream beside_pool;
        row "concord" "fifo+workers" Bounded.stream beside_workers;
        row "concord" "pool" Bounded.stream in_pool;
        Case.row ~case ~impl:"domainslib" ~host:"pool" (Time (chunked ~turns));
        row "stdlib" "thread" (fun () -> Bounded.stdlib ()) (in_one Host.thread);
        row "concord" "thread" Bounded.stream (in_one Host.thread);
        go case;
      ];
  }

let group =
  {
    name = "pipeline";
    doc = "where to run the stages of a pipeline: schedulers, pools, domains";
    comparisons =
      [
        comparison "pipeline-empty" ~turns:1
          ~title:
            "an item through a pipeline of 3 stages that do nothing, 4 workers \
             in the second, between queues of 100";
        comparison "pipeline-work" ~turns:a_microsecond
          ~title:"the same, with 1 us of work in a worker";
      ];
  }
