(* Signal handlers raise in [Condition.wait] at any moment. Afterwards the task must hold
   the mutex again. *)

open Concord
open Concord_test_support
open Check

exception Interrupt

(* The calling thread holds [mutex] except during [wait]. *)
let often wait ~mutex ~check =
  let count = ref 0 in
  Mutex.lock mutex;
  while !count < 1_000 do
    let calls = ref 0 in
    Interrupting.run ~by:Interrupt ~count (fun () ->
        while !calls < 1_000 do
          incr calls;
          (match wait () with
          | () -> ()
          | exception e ->
              check ();
              raise e);
          check ()
        done)
  done;
  Mutex.unlock mutex

(* A thread calls [f] repeatedly meanwhile. *)
let beside_often f g =
  let stop = Atomic.make false in
  let rec again () =
    if not (Atomic.get stop) then begin
      f ();
      Thread.yield ();
      again ()
    end
  in
  beside again (fun () ->
      Fun.protect g ~finally:(fun () -> Atomic.set stop true))

let wakes wait () =
  let mutex = Mutex.create () and c = Condition.create () in
  beside_often
    (fun () -> Condition.broadcast c)
    (fun () ->
      often (wait c mutex) ~mutex ~check:(fun () ->
          if not (Mutex.is_locked mutex) then
            Alcotest.fail "it does not have its mutex"))

(* The other thread often holds the mutex when the first one is woken. *)
let contends wait () =
  let mutex = Mutex.create () and c = Condition.create () in
  let other_has_it = ref false in
  let take () =
    if Mutex.try_lock mutex then begin
      other_has_it := true;
      Condition.broadcast c;
      Thread.yield ();
      other_has_it := false;
      Mutex.unlock mutex
    end
  in
  beside_often take (fun () ->
      often (wait c mutex) ~mutex ~check:(fun () ->
          if !other_has_it || not (Mutex.is_locked mutex) then
            Alcotest.fail "it does not have its mutex"))

(* Another domain signals, so the task spins. A waiter that stayed in the queue would take
   another task's signal. *)
let looks wait () =
  let mutex = Mutex.create () and c = Condition.create () in
  let stop = Atomic.make false in
  let rec again n =
    if not (Atomic.get stop) then begin
      if Condition.waiters c > 0 then begin
        for _ = 1 to n mod 32 do
          Domain.cpu_relax ()
        done;
        Condition.signal c
      end;
      again (n + 1)
    end
  in
  let joined = domain (fun () -> again 0) in
  let check () =
    if Condition.waiters c > 0 then Alcotest.fail "it stays in the queue";
    if not (Mutex.is_locked mutex) then
      Alcotest.fail "it does not have its mutex"
  in
  Fun.protect
    (fun () -> often (wait c mutex) ~mutex ~check)
    ~finally:(fun () ->
      Atomic.set stop true;
      joined ())

let direct c mutex () = Condition.wait c mutex
let event c mutex () = Event.sync (Condition.wait_evt c mutex)
let choice c mutex () = Event.select [ Event.never; Condition.wait_evt c mutex ]

let () =
  let ways = [ ("direct", direct); ("event", event); ("choice", choice) ] in
  let each what scenario =
    (what, List.map (fun (name, wait) -> test name (scenario wait)) ways)
  in
  run "Condition, interrupted"
    [
      each "woken" wakes;
      each "woken while another one has the mutex" contends;
      each "woken by another domain" looks;
    ]
