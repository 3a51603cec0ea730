open Case

let tasks = 10

(* Every task passes as often as the others; [n] counts the passings of all. *)
let barrier (host : Host.t) await n =
  let rounds = 1 + (n / tasks) and warm_up = 10 in
  let passed = ref 0 and start = ref (Meter.now ()) and ns = ref 0. in
  let task () =
    for _ = 1 to warm_up do
      await ()
    done;
    if !passed = 0 then start := Meter.now ();
    for _ = 1 to rounds do
      await ();
      incr passed
    done;
    ns := Meter.ns_since !start
  in
  host.run (fun fork ->
      for _ = 1 to tasks do
        fork task
      done);
  Host.check "tasks that passed" (tasks * rounds) !passed;
  !ns *. float_of_int n /. float_of_int !passed

let barrier_concord host n =
  let t = Concord.Barrier.create tasks in
  barrier host (fun () -> Concord.Barrier.await t) n

let barrier_eio n =
  let mutex = Eio.Mutex.create () and condition = Eio.Condition.create () in
  let missing = ref tasks and round = ref 0 in
  let await () =
    Eio.Mutex.lock mutex;
    decr missing;
    (if !missing = 0 then (
       missing := tasks;
       incr round;
       Eio.Condition.broadcast condition)
     else
       let mine = !round in
       while !round = mine do
         Eio.Condition.await condition mutex
       done);
    Eio.Mutex.unlock mutex
  in
  barrier Host.eio await n

let barrier_serial =
  let case = "barrier-serial" in
  {
    title =
      Printf.sprintf
        "one of %d tasks passing a barrier for all of them, 1 domain (Eio: \
         made of its mutex and condition)"
        tasks;
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time barrier_eio);
    others =
      [
        row ~case ~impl:"concord" ~host:"fifo"
          (Time (barrier_concord Host.fifo));
        row ~case ~impl:"concord" ~host:"eio" (Time (barrier_concord Host.eio));
      ];
  }

let comparisons = [ barrier_serial ]
