open Case

(* --- Pools, each with two domains of its own --------------------------------------- *)

(* [pool.within f] calls [f run], where [run] gives a job to the pool and waits until it has
   ended. *)
type pool = { within : 'a. (((unit -> unit) -> unit) -> 'a) -> 'a }

let workers =
  let within f =
    Concord.Workers.(with_workers ~domains:2 (fun w -> f (run w)))
  in
  { within }

let domainslib =
  let within f =
    let pool = Domainslib.Task.setup_pool ~num_domains:2 () in
    Concord_domainslib.attach pool;
    let result = f (Concord_domainslib.run pool) in
    Concord_domainslib.teardown pool;
    result
  in
  { within }

(* Plain domains take jobs from a queue. *)
let by_hand =
  let within f =
    let mutex = Mutex.create () and changed = Condition.create () in
    let jobs = Queue.create () in
    let take () =
      Mutex.protect mutex (fun () ->
          while Queue.is_empty jobs do
            Condition.wait changed mutex
          done;
          Queue.take jobs)
    in
    let add job =
      Mutex.protect mutex (fun () -> Queue.add job jobs);
      Condition.signal changed
    in
    let rec work () =
      match take () with
      | Some job ->
          job ();
          work ()
      | None -> ()
    in
    let domains = List.init 2 (fun _ -> Domain.spawn work) in
    let run job =
      let ended = Semaphore.Binary.make false in
      add
        (Some
           (fun () ->
             job ();
             Semaphore.Binary.release ended));
      Semaphore.Binary.acquire ended
    in
    let result = f run in
    List.iter (fun _ -> add None) domains;
    List.iter Domain.join domains;
    result
  in
  { within }

(* --- The load ----------------------------------------------------------------------- *)

(* [callers] tasks of a host give [n] jobs to the pool, and each waits for its job before it
   gives the next one. *)
let load ~callers ~turns (run : (unit -> unit) -> unit) fork n =
  let ended = Atomic.make 0 in
  let job () =
    ignore (Sys.opaque_identity (Bench_pipeline.turned turns 1) : int);
    Atomic.incr ended
  in
  let caller n () =
    for _ = 1 to n do
      run job
    done
  in
  let all n =
    let left = Concord.Latch.create callers in
    for i = 1 to callers do
      fork (fun () ->
          caller ((n + i - 1) / callers) ();
          Concord.Latch.count_down left)
    done;
    Concord.Latch.await left
  in
  all (callers * 10);
  let before = Atomic.get ended in
  let start = Meter.now () in
  all n;
  let ns = Meter.ns_since start in
  Host.check "jobs" n (Atomic.get ended - before);
  ns

let on (host : Host.t) pool ~callers ~turns n =
  pool.within (fun run ->
      host.run (fun fork -> load ~callers ~turns run fork n))

let in_executor_pool ~callers ~turns n =
  Eio_main.run @@ fun env ->
  Eio.Switch.run @@ fun sw ->
  let domains = Eio.Stdenv.domain_mgr env in
  let pool = Eio.Executor_pool.create ~sw ~domain_count:2 domains in
  load ~callers ~turns
    (fun job -> Eio.Executor_pool.submit_exn pool ~weight:1. job)
    (Eio.Fiber.fork ~sw) n

(* Threads of Lwt, which share one domain. *)
let in_threads_of_lwt ~callers ~turns n =
  Lwt_preemptive.set_bounds (0, 2);
  let ended = Atomic.make 0 in
  let job () =
    ignore (Sys.opaque_identity (Bench_pipeline.turned turns 1) : int);
    Atomic.incr ended
  in
  let caller n = Host.lwt_times n (fun () -> Lwt_preemptive.detach job ()) in
  let all n =
    Lwt.join (List.init callers (fun i -> caller ((n + i) / callers)))
  in
  Lwt_main.run
    (Lwt.bind
       (all (callers * 10))
       (fun () ->
         let before = Atomic.get ended in
         let start = Meter.now () in
         Lwt.map
           (fun () ->
             let ns = Meter.ns_since start in
             Host.check "jobs" n (Atomic.get ended - before);
             ns)
           (all n)))

(* --- Rows ---------------------------------------------------------------------------- *)

let comparison case ~callers ~turns ~title =
  let row impl host f = row ~case ~impl ~host (Time (f ~callers ~turns)) in
  {
    title;
    baseline = row "eio" "executor-pool" in_executor_pool;
    others =
      [
        row "concord" "eio" (on Host.eio workers);
        row "concord" "fifo" (on Host.fifo workers);
        row "concord" "thread" (on Host.thread workers);
        row "domainslib" "eio" (on Host.eio domainslib);
        row "domainslib" "thread" (on Host.thread domainslib);
        row "stdlib" "thread" (on Host.thread by_hand);
        row "lwt" "threads" in_threads_of_lwt;
      ];
  }

let group =
  {
    name = "workers";
    doc = "jobs for other domains: Workers, Domainslib, Eio's executor pool";
    comparisons =
      [
        comparison "workers-one" ~callers:1 ~turns:1
          ~title:
            "a job that does nothing, given to two domains by a task that \
             waits for it";
        comparison "workers-many" ~callers:16
          ~turns:(10 * Bench_pipeline.a_microsecond)
          ~title:
            "a job of 10 us, given to two domains by 16 tasks, each of which \
             waits for its own (lwt: two threads)";
      ];
  }
