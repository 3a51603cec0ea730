open Case
open Concord
open Concord.Tools

(* Each row has a process of its own, because these features stay on. *)
let ways =
  [
    ("concord-waits", Debug.keep_waits);
    ("concord-metrics", Metrics.start);
    ("concord-trace", Trace.start);
  ]

let comparison ~case ~host ~title run =
  let turned_on (impl, turn_on) =
    let run n =
      turn_on ();
      run n
    in
    row ~case ~impl ~host (Time run)
  in
  {
    title = title ^ ", 1 domain";
    baseline = row ~case ~impl:"concord" ~host (Time run);
    others = List.map turned_on ways;
  }

let message host n =
  let box = Mvar.create_empty () in
  Host.serial host ~produce:(Passing.put box) ~consume:(Passing.take box) n

let lock_unlock n =
  let mutex = Mutex.create () in
  Host.alone Host.fifo
    (fun n ->
      for _ = 1 to n do
        Mutex.lock mutex;
        Mutex.unlock mutex
      done)
    n

let fork_join n =
  Concord_fifo.run (fun () ->
      let start = Meter.now () in
      for _ = 1 to n do
        Concord_fifo.join (Concord_fifo.fork ignore)
      done;
      Meter.ns_since start)

let group =
  {
    name = "debug";
    doc = "what keeping waits, metrics and tracing cost, when they are on";
    comparisons =
      [
        comparison ~case:"message" ~host:"fifo" (message Host.fifo)
          ~title:"a message through an Mvar between two tasks that wait";
        comparison ~case:"message" ~host:"eio" (message Host.eio)
          ~title:"a message through an Mvar between two fibers that wait";
        comparison ~case:"message" ~host:"thread" (message Host.thread)
          ~title:"a message through an Mvar between two threads that wait";
        comparison ~case:"mutex-free" ~host:"fifo" lock_unlock
          ~title:"a mutex locked and unlocked by the only task";
        comparison ~case:"fork-join" ~host:"fifo" fork_join
          ~title:"one task forked that ends at once, and joined";
      ];
  }
