(* Conditions with a mutex. The scenarios below are those of signals that come while no task has
   the mutex, of a state that the mutex protects, and of tasks that spin. *)

open Actor

(* The condition that the waiters wait for, protected by the mutex. *)
let ready = ref false

let wait ?(evt = false) ?(until = fun () -> true) name c m =
  make name @@ fun () ->
  Mutex.lock m;
  let rec wait () =
    if evt then Event.sync (Condition.wait_evt c m) else Condition.wait c m;
    if not (until ()) then wait ()
  in
  match if not (until () && !ready) then wait () with
  | () ->
      Mutex.unlock m;
      "ok"
  | exception e ->
      (* Raises if the task doesn't hold the mutex. *)
      Mutex.unlock m;
      raise e

(* The second wait spins even if the first one has spun in vain, because [spin_at_most] resets
   what the task has learned. *)
let wait_twice name c m =
  make name @@ fun () ->
  Mutex.lock m;
  match
    Condition.wait c m;
    spin_at_most 1;
    Condition.wait c m
  with
  | () ->
      Mutex.unlock m;
      "ok"
  | exception e ->
      Mutex.unlock m;
      raise e

let signal c = Do (fun () -> Condition.signal c)
let broadcast c = Do (fun () -> Condition.broadcast c)

let make_ready c m =
  make "signal" @@ fun () ->
  Mutex.lock m;
  ready := true;
  Condition.signal c;
  Mutex.unlock m;
  "ok"

let at_rest c m actors () =
  if Mutex.is_locked m then failwith "the mutex is locked at rest";
  all_queued actors [ live (Atomic.get c) ];
  describe actors

let check ?(looks = 0) name make expect =
  Model.check name ~expect @@ fun () ->
  spin_at_most looks;
  forget_seats ();
  ready := false;
  let c = Condition.create () and m = Mutex.create () in
  let first, processes = make c m in
  let processes, actors = start first processes in
  (processes, at_rest c m actors)

(* The signalling process doesn't hold the mutex, so it may signal when no task waits. *)
let cancellations () =
  let create () =
    forget_seats ();
    ready := false;
    (Condition.create (), Mutex.create ())
  in
  let waits evt _ name (c, m) = wait ~evt name c m in
  let check service what serve =
    Cancellations.check what ~service ~remembers:false ~three:false
      [ ("", waits false); (", an event", waits true) ]
      ~create
      ~serve:(fun (c, _) -> serve c)
      ~served:"ok"
      ~rest:(fun _ -> "")
      ~at_rest:(fun (c, m) -> at_rest c m)
  in
  check First "wait, signal" Condition.signal;
  check All "wait, broadcast" Condition.broadcast

module Described_condition = Described.Make (Monitors)

let () =
  Described_condition.some 10 ~at_rest:(fun { condition; _ } ->
      ignore (live (Atomic.get condition) : int));
  cancellations ();
  check "one comes to wait for a state"
    (fun c m ->
      let w = wait ~until:(fun () -> !ready) "wait" c m in
      ([], [ Run w; Run (make_ready c m) ]))
    [ "wait=ok signal=ok" ];
  check "one waits, is cancelled while another has the mutex"
    (fun c m ->
      let w = wait ~until:(fun () -> !ready) "wait" c m in
      ([ w ], [ Run (make_ready c m); Cancel w ]))
    [ "wait=cancelled signal=ok"; "wait=ok signal=ok" ];
  check "one waits, another comes, a broadcast and a signal"
    (fun c m ->
      let a = wait "a" c m and b = wait "b" c m in
      ([ a ], [ Run b; broadcast c; signal c ]))
    [ "a=ok b=ok"; "a=ok b=waits" ];
  check "one spins, and comes to wait for a state" ~looks:2
    (fun c m ->
      let w = wait ~until:(fun () -> !ready) "wait" c m in
      ([], [ Run w; Run (make_ready c m) ]))
    [ "wait=ok signal=ok" ];
  check "one spins behind another, a broadcast" ~looks:1
    (fun c m ->
      let a = wait "a" c m and b = wait "b" c m in
      ([ a ], [ Run b; broadcast c ]))
    [ "a=ok b=ok"; "a=ok b=waits" ];
  check "one spins behind another, which is cancelled" ~looks:1
    (fun c m ->
      let a = wait "a" c m and b = wait "b" c m in
      let cancel_and_signal () =
        Model.cancel a.task;
        Condition.signal c
      in
      ([ a ], [ Run b; Do cancel_and_signal ]))
    [ "a=cancelled b=ok"; "a=cancelled b=waits" ];
  check "one spins twice, one signal" ~looks:1
    (fun c m ->
      let w = wait_twice "wait" c m in
      ([], [ Run w; signal c; Cancel w ]))
    [ "wait=cancelled"; "wait=waits" ];
  check "one spins twice, two signals" ~looks:1
    (fun c m ->
      let w = wait_twice "wait" c m in
      ([], [ Run w; signal c; signal c ]))
    [ "wait=ok"; "wait=waits" ];
  check "one spins twice, a broadcast and a signal" ~looks:1
    (fun c m ->
      let w = wait_twice "wait" c m in
      ([], [ Run w; broadcast c; signal c ]))
    [ "wait=ok"; "wait=waits" ];
  Model.finish ()
