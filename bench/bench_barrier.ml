open Case

let tasks = 10

(* All tasks pass equally often. [n] counts the passings of all tasks together. *)
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

let await_eio tasks =
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
  await

let barrier_eio n = barrier Host.eio (await_eio tasks) n

let barrier_serial =
  let case = "barrier-serial" in
  {
    title =
      Printf.sprintf
        "one of %d tasks passing a barrier for all of them, 1 domain (Eio: \
         made of its mutex and condition)"
        tasks;
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time barrier_eio);
    others = Ours.rows ~case Ours.two_tasks barrier_concord;
  }

(* --- Between two domains --- *)

let sides = 2

let pass await n =
  for _ = 1 to n do
    await ()
  done

let both_concord host n =
  let t = Concord.Barrier.create sides in
  Host.both host (pass (fun () -> Concord.Barrier.await t)) n

let both_eio n = Host.both Host.eio (pass (await_eio sides)) n

let both_stdlib n =
  let mutex = Mutex.create () and condition = Condition.create () in
  let missing = ref sides and round = ref 0 in
  let await () =
    Mutex.lock mutex;
    decr missing;
    (if !missing = 0 then (
       missing := sides;
       incr round;
       Condition.broadcast condition)
     else
       let mine = !round in
       while !round = mine do
         Condition.wait condition mutex
       done);
    Mutex.unlock mutex
  in
  Host.both Host.domain (pass await) n

let barrier_parallel =
  let case = "barrier-parallel" in
  {
    title =
      "one of 2 tasks passing a barrier for both of them, each on a domain \
       (eio, stdlib, go, picos: made of a mutex and a condition)";
    baseline = row ~case ~impl:"eio" ~host:"eio" (Time both_eio);
    others =
      Ours.rows ~case Ours.two_domains both_concord
      @ [
          row ~case ~impl:"stdlib" ~host:"domain" (Time both_stdlib);
          go case;
          picos case elsewhere;
        ];
  }

let comparisons = beside [ barrier_serial ] @ [ barrier_parallel ]
