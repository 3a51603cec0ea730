(* Cycles that lead through a task that waits for the end of another task, and tasks that
   have another way out. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check
open Kept

let observer = Kept.observer (fun () -> Unix.sleepf 0.001)

let a_cycle () =
  until observer "a cycle" (fun () -> List.length (cycles ()) = 1)

let hosts_of cycle =
  List.sort String.compare
    (List.map (fun (w : Debug.wait) -> w.task.host) cycle)

(* [fork_promise f] forks [f] and returns its promise. The holder of a mutex awaits it, and
   [f] needs that mutex. *)
let joined ~hosts run_holder fork_promise =
  let mutex = Mutex.create () and promise = Atomic.make None in
  let hold () =
    Mutex.protect mutex (fun () ->
        let joined =
          fork_promise (fun () ->
              Mutex.lock mutex;
              Mutex.unlock mutex)
        in
        Atomic.set promise (Some joined);
        Promise.await joined)
  in
  run_holder hold (fun () ->
      a_cycle ();
      strings "hosts" hosts (hosts_of (List.hd (cycles ())));
      (* Now the holder continues and unlocks. *)
      yes "filled" (Promise.try_fill (Option.get (Atomic.get promise)) ());
      until observer "no cycle" (fun () -> cycles () = []))

let thread hold look =
  let thread = Thread.create hold () in
  look ();
  Thread.join thread

let fiber hold look =
  let other = Partner.lasting_domain () in
  Partner.ask other look;
  Eio_main.run (fun _ -> hold ());
  Partner.join other

let thread_in_thread () = joined ~hosts:[ ""; "" ] thread Promise.in_thread

let job_in_thread () =
  Job_hosts.with_pool (fun pool ->
      joined ~hosts:[ ""; "domainslib" ] thread (Concord_domainslib.submit pool))

let job_in_eio () =
  Job_hosts.with_pool (fun pool ->
      joined ~hosts:[ "domainslib"; "eio" ] fiber
        (Concord_domainslib.submit pool))

let stoppable_job () =
  Workers.with_workers ~domains:1 (fun workers ->
      joined ~hosts:[ ""; "workers" ] thread (fun f ->
          fst (Workers.submit_stoppable workers (fun _ -> f ()))))

let domain_in_thread () = joined ~hosts:[ ""; "" ] thread Promise.in_domain

(* A resolved promise waits for no task, even if a task was to resolve it and still runs. *)
let resolved_early () =
  Concord_fifo.run (fun () ->
      let going_on = Promise.create () and filled = ref None in
      Scope.run (fun scope ->
          let promise =
            Scope.fork_promise scope (fun () -> Promise.await going_on)
          in
          filled := Some promise;
          let holders () =
            Concord__diagnosis.Known.holders
              (Concord__core__Identity.pointer promise)
          in
          until (Kept.observer Suspend.yield) "its task is known" (fun () ->
              List.length (holders ()) = 1);
          Promise.fill promise ();
          int "nobody" 0 (List.length (holders ()));
          Promise.fill going_on ()))

(* --- Other ways out ------------------------------------------------------------- *)

(* Two threads each hold a mutex, and wait for the other one's mutex or for [events ()]. *)
let crossed ?(n = 2) events look =
  let a = Mutex.create () and b = Mutex.create () in
  let in_a = named a and in_b = named b in
  let meet = Latch.create 2 in
  let cross first second () =
    Mutex.protect first (fun () ->
        Latch.count_down meet;
        Latch.await meet;
        Event.select (Mutex.lock_evt second :: events ()))
  in
  let threads =
    List.map (fun f -> Thread.create f ()) [ cross a b; cross b a ]
  in
  until observer "both wait" (fun () ->
      List.length (waits_in in_a) + List.length (waits_in in_b) = n);
  look ();
  List.iter Thread.join threads

let way_out () =
  let out = Promise.create () in
  crossed
    (fun () -> [ Promise.await_evt out ])
    (fun () ->
      int "no cycle" 0 (List.length (cycles ()));
      int "none behind" 0 (List.length (Debug.report ()).behind);
      Promise.fill out ())

let timeout_is_a_way_out () =
  crossed
    (fun () -> [ Event.timeout 0.5 ])
    (fun () -> int "no cycle" 0 (List.length (cycles ())))

(* An event that never happens isn't a way out, nor is a mutex that another one of the tasks
   holds. *)
let no_way_out () =
  let third = Mutex.create () and ended = Latch.create 1 in
  let holder =
    Thread.create
      (fun () ->
        Mutex.lock third;
        Latch.await ended;
        Mutex.unlock third)
      ()
  in
  until observer "it is locked" (fun () -> Mutex.is_locked third);
  crossed
    (fun () -> [ Event.never; Mutex.lock_evt third ])
    (fun () ->
      int "its holder can continue" 0 (List.length (cycles ()));
      Latch.count_down ended);
  Thread.join holder

(* --- A task that unlocks for another one ------------------------------------------ *)

let read_unlocked_by_another () =
  let rwlock = Rwlock.create () and mutex = Mutex.create () in
  let in_rwlock = named rwlock and in_mutex = named mutex in
  let lent = Latch.create 1 and leave = Promise.create () in
  let reads = Latch.create 1 in
  let lender =
    Thread.create (fun () ->
        Rwlock.read_lock rwlock;
        Latch.count_down lent;
        Mutex.lock mutex;
        Mutex.unlock mutex)
  in
  let reader () =
    Rwlock.read_lock rwlock;
    Latch.count_down reads;
    Promise.await leave;
    Rwlock.read_unlock rwlock
  in
  Mutex.lock mutex;
  let lender = lender () in
  Latch.await lent;
  let reader = Thread.create reader () in
  Latch.await reads;
  until observer "the mutex" (fun () -> List.length (waits_in in_mutex) = 1);
  (* This unlocks the lender's lock. *)
  Thread.join (Thread.create Rwlock.read_unlock rwlock);
  let looks =
    Thread.create
      (fun () ->
        until observer "the lock" (fun () ->
            List.length (waits_in in_rwlock) = 1);
        int "the reader may leave" 0 (List.length (cycles ()));
        Promise.fill leave ())
      ()
  in
  Rwlock.write rwlock ignore;
  Mutex.unlock mutex;
  List.iter Thread.join [ lender; reader; looks ]

(* A task that waited for the end of the time would be one wait more. *)
let limit_needs_no_task () =
  let waits () = List.length (waits ()) in
  let before = waits () in
  let within () =
    Tasks.yield ();
    waits ()
  in
  let more = Option.get (Tasks.with_timeout 60. within) - before in
  int "no task waits for the end of the time" 0 more

let limits =
  [
    test "a thread" limit_needs_no_task;
    test "Fifo" (fun () -> Concord_fifo.run limit_needs_no_task);
    test "Eio" (fun () -> Eio_main.run (fun _ -> limit_needs_no_task ()));
  ]

let () =
  run "waits, joins"
    [
      ( "joins",
        [
          test "a thread" thread_in_thread;
          test "a domain" domain_in_thread;
          test "a job, awaited in a thread" job_in_thread;
          test "a job, awaited in Eio" job_in_eio;
          test "a job that can be told to stop" stoppable_job;
          test "resolved by another" resolved_early;
        ] );
      ( "ways out",
        [
          test "a promise" way_out;
          test "a timeout" timeout_is_a_way_out;
          test "a mutex" no_way_out;
        ] );
      ("a time limit", limits);
      ("for another", [ test "read_unlock" read_unlocked_by_another ]);
    ]
