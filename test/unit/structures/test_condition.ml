open Concord
open Concord.Tools
open Concord_test_support
open Check

let create () = (Condition.create (), Mutex.create ())
let waiting c n = int "waiters" n (Condition.waiters c)
let locked m = yes "the mutex is locked" (Mutex.is_locked m)
let free m = no "the mutex is free" (Mutex.is_locked m)

(* Reports its name as soon as its wait ends, and then unlocks. *)
let waiter ?(say = ignore) ?(name = "") (c, m) =
  Hand.start @@ fun () ->
  Mutex.lock m;
  Fun.protect
    (fun () ->
      Condition.wait c m;
      say name)
    ~finally:(fun () ->
      locked m;
      Mutex.unlock m)

(* --- Signals -------------------------------------------------------------- *)

(* A task that gets the mutex from [wait] must find the waiter in the queue. *)
let not_missed () =
  let ((c, m) as cm) = create () in
  Mutex.lock m;
  let task = waiter cm in
  let signaller =
    Hand.start (fun () -> Mutex.protect m (fun () -> Condition.signal c))
  in
  Mutex.unlock m;
  Hand.settle ();
  Hand.result signaller;
  Hand.result task;
  free m

let not_locked () =
  let c, m = create () in
  let expected = Sys_error "Condition.wait: the mutex is not locked" in
  let wait () = Condition.wait c m in
  let event () = Event.sync (Condition.wait_evt c m) in
  raises "wait" expected (fun () -> Hand.result (Hand.start wait));
  raises "wait in a thread" expected (fun () -> in_thread wait);
  raises "its event" expected (fun () -> Hand.result (Hand.start event));
  raises "its event in a thread" expected (fun () -> in_thread event);
  waiting c 0;
  free m

(* Another task unlocks the mutex after [wait] has found it locked, before the task is in the
   queue. So the task doesn't count as one that has withdrawn. (In a short queue, the count isn't
   used.) *)
let unlocked_meanwhile () =
  let ((c, m) as cm) = create () in
  let others = List.init 20 (fun _ -> waiter cm) in
  let suspend (type a) (block : a Suspend.resumer -> a option) k =
    Mutex.unlock m;
    match block (fun _ -> false) with
    | Some v -> Effect.Deep.continue k v
    | None -> Alcotest.fail "it waits"
    | exception e -> Effect.Deep.discontinue k e
  in
  Mutex.lock m;
  raises "it is unlocked by another task"
    (Sys_error "Condition.wait: the mutex is not locked") (fun () ->
      Handled.until_wait { suspend } (fun () -> Condition.wait c m));
  waiting c 20;
  Condition.broadcast c;
  Hand.settle ();
  List.iter Hand.result others;
  free m

(* A task that finds its signal while it spins leaves a waiter that another task may reuse.
   Only one task may get it. *)
let one_by_one () =
  let c, m = create () in
  let stopped = Atomic.make false in
  let signal_all_the_time () =
    while not (Atomic.get stopped) do
      Condition.signal c;
      Domain.cpu_relax ()
    done
  in
  let join = domain signal_all_the_time in
  let spin_and_wait () =
    for _ = 1 to 1_000 do
      Condition.wait c m
    done
  in
  Mutex.protect m spin_and_wait;
  Atomic.set stopped true;
  join ();
  let all = List.init 8 (fun _ -> create ()) in
  let tasks = List.map waiter all in
  let wake (c, _) task =
    waiting c 1;
    yes "it waits" (Hand.waits task);
    Condition.signal c;
    Hand.settle ();
    Hand.result task
  in
  List.iter2 wake all tasks

let no_effect () =
  let ((c, m) as cm) = create () in
  Condition.signal c;
  Condition.broadcast c;
  let a = waiter cm and b = waiter cm and d = waiter cm in
  waiting c 3;
  Mutex.lock m;
  Condition.signal c;
  Condition.broadcast c;
  waiting c 0;
  yes "poll" (Event.poll (Condition.wait_evt c m) = None);
  locked m;
  Mutex.unlock m;
  Hand.settle ();
  List.iter Hand.result [ a; b; d ]

(* --- Cancellation --------------------------------------------------------- *)

(* The host refuses to suspend the task, so the task must not have unlocked the mutex. *)
let before_it_waits () =
  let c, m = create () in
  let gate = Promise.create () in
  let task =
    Hand.start @@ fun () ->
    Mutex.lock m;
    Promise.await gate;
    Condition.wait c m
  in
  let next = Hand.start (fun () -> Mutex.lock m) in
  Promise.fill gate ();
  Hand.stop task;
  Hand.settle ();
  Hand.unwound task;
  waiting c 0;
  yes "the mutex was not unlocked" (Hand.waits next);
  Mutex.unlock m;
  Hand.settle ();
  Hand.result next

(* Runs [f] in a program of several domains. After an unsuccessful spin the next wait
   doesn't spin. So here the wait for the gate doesn't, but the wait for the signal does. *)
let where_it_looks f () =
  in_domain @@ fun () ->
  let box = Mvar.create_empty () in
  beside
    (fun () ->
      eventually "it waits" (fun () -> Mvar.waiters box > 0);
      Mvar.put box ())
    (fun () -> Mvar.take box);
  f ()

(* A task that may spin unlocks first, so that others can signal meanwhile. A task that
   won't spin keeps the mutex until it is enlisted. *)
let spins_first () =
  in_domain ignore;
  let unlocked_before_it_suspends ~spins =
    let c, m = create () and unlocked = ref None in
    let before_block () =
      if !unlocked = None then unlocked := Some (not (Mutex.is_locked m))
    in
    Spinning.next spins;
    let task =
      Hand.start ~before_block (fun () ->
          Mutex.lock m;
          Condition.wait c m)
    in
    Condition.signal c;
    Hand.settle ();
    Hand.result task;
    !unlocked = Some true
  in
  no "it does not spin" (unlocked_before_it_suspends ~spins:false);
  if Domain.recommended_domain_count () > 1 then
    yes "it spins" (unlocked_before_it_suspends ~spins:true)

let before_the_signal () =
  traced [ "the owner unlocks"; "the task unlocks"; "next" ] @@ fun say ->
  let c, m = create () in
  let task =
    Hand.start @@ fun () ->
    Mutex.lock m;
    Fun.protect
      (fun () -> Condition.wait c m)
      ~finally:(fun () ->
        say "the task unlocks";
        Mutex.unlock m)
  in
  Mutex.lock m;
  Hand.stop task;
  Hand.settle ();
  yes "it waits for the mutex" (Hand.waits task);
  int "protected" 1 (Mutex.waiters m);
  waiting c 0;
  Hand.stop task;
  Hand.settle ();
  let _next = Hand.start (fun () -> Mutex.protect m (fun () -> say "next")) in
  say "the owner unlocks";
  Mutex.unlock m;
  Hand.settle ();
  Hand.unwound task;
  free m

let after_the_signal () =
  let ((c, m) as cm) = create () in
  let stopped = ref false in
  let task =
    Hand.start @@ fun () ->
    Mutex.lock m;
    Condition.wait c m;
    locked m;
    raises "the next suspension" Hand.Cancelled (fun () ->
        Promise.await (Promise.create ()));
    stopped := true;
    Mutex.unlock m
  in
  let other = waiter cm in
  Mutex.lock m;
  Condition.signal c;
  (* The task hasn't run since the signal. When it runs, it has to wait for the mutex. *)
  Hand.stop task;
  Hand.settle ();
  int "it waits for the mutex" 1 (Mutex.waiters m);
  Hand.stop task;
  Hand.settle ();
  int "it still waits" 1 (Mutex.waiters m);
  Mutex.unlock m;
  Hand.settle ();
  Hand.result task;
  yes "stopped" !stopped;
  yes "it has used its signal up" (Hand.waits other);
  free m

let () =
  run "Condition"
    [
      ( "signals",
        [
          test "none is missed" not_missed;
          test "each wakes one, even after others have spun" one_by_one;
          test "a task that spins unlocks first" spins_first;
          test "the mutex must be locked" not_locked;
          test "the mutex is unlocked by another task" unlocked_meanwhile;
          test "a bounded buffer of threads and domains" Buffer_case.run;
        ] );
      Outside.suite no_effect;
      ( "cancellation",
        [
          test "before it waits: the mutex stays locked" before_it_waits;
          test "the same, where it would spin" (where_it_looks before_it_waits);
          test "before the signal: it locks again" before_the_signal;
          test "after the signal: it returns" after_the_signal;
        ] );
      Condition_choice.suite;
    ]
