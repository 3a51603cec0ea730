(* Threads without a scheduler. A wake-up must wake only its thread, and a signal handler
   that raises must not break a wait. *)

open Concord
open Concord.Tools
open Concord_test_support
open Check

exception Boom

(* A spinning thread may sleep for a moment, so the thread must be seen asleep 20 times in a
   row. *)
let is_asleep thread =
  let in_a_row = ref 0 in
  fun () ->
    in_a_row := if Burst.sleeps thread then !in_a_row + 1 else 0;
    !in_a_row = 20

(* Counts how often Linux has put the thread to sleep. Each time it wakes costs one more. *)
let sleeps thread =
  Option.get
    (Concord_test_proc.number (thread ^ "/status") "voluntary_ctxt_switches")

let wakes_no_other_thread () =
  let idle = 10 and round_trips = 100 in
  let threads = Mailbox.create () and stop = Promise.create () in
  let wait () =
    Mailbox.add threads (Concord_test_proc.this_thread ());
    Promise.await stop
  in
  let joins = List.init idle (fun _ -> thread wait) in
  let threads = List.init idle (fun _ -> Mailbox.take threads) in
  eventually "they wait" (fun () -> Promise.waiters stop = idle);
  let sleeps_now thread = eventually "it sleeps" (is_asleep thread) in
  List.iter sleeps_now threads;
  let before = List.map sleeps threads in
  let there = Mvar.create_empty () and back = Mvar.create_empty () in
  beside
    (fun () ->
      for _ = 1 to round_trips do
        Mvar.put back (Mvar.take there)
      done)
    (fun () ->
      for i = 1 to round_trips do
        Mvar.put there i;
        int "back" i (Mvar.take back)
      done);
  List.iter2
    (fun thread before ->
      let woken = sleeps thread - before in
      (* Some are allowed, because the thread may still have been on its way to sleep. *)
      if woken > round_trips / 10 then
        Alcotest.failf "an idle thread was woken %d times" woken)
    threads before;
  Promise.fill stop ();
  List.iter (fun join -> join ()) joins

(* A signal comes while the thread is blocked. Its handler raises when the thread has been
   resumed and waits for the mutex again, which it must get first. The thread has to be
   asleep, because a handler raises at once in a thread that spins. *)
let interrupted_in_condition () =
  let here = Thread.id (Thread.self ())
  and thread = Concord_test_proc.this_thread () in
  let signal_me () = Unix.kill (Unix.getpid ()) Sys.sigusr1 in
  let handle _ =
    if Thread.id (Thread.self ()) = here then raise Boom else signal_me ()
  in
  let before = Sys.signal Sys.sigusr1 (Signal_handle handle) in
  let mutex = Mutex.create () and condition = Condition.create () in
  let other () =
    ignore (Thread.sigmask SIG_BLOCK [ Sys.sigusr1 ] : int list);
    eventually "it waits" (fun () -> Condition.waiters condition = 1);
    eventually "it sleeps" (is_asleep thread);
    Mutex.lock mutex;
    signal_me ();
    Condition.signal condition;
    eventually "it waits for the mutex" (fun () -> Mutex.waiters mutex = 1);
    Mutex.unlock mutex
  in
  Mutex.lock mutex;
  let domain = Domain.spawn other in
  Condition.wait condition mutex;
  yes "the mutex is locked" (Mutex.is_locked mutex);
  Mutex.unlock mutex;
  raises "the next wait" Boom (fun () -> Promise.await (Promise.create ()));
  Domain.join domain;
  Sys.set_signal Sys.sigusr1 before

(* A handler raises in [block] after another thread has resumed this one. The exception must
   be kept for the next wait. *)
let interrupted_in_block () =
  let once outcome =
    Suspend.suspend (fun resumer ->
        in_domain (fun () -> yes "resumed" (resumer outcome));
        raise Boom)
  and next_wait () =
    raises "the next wait" Boom (fun () ->
        Suspend.suspend (fun resumer ->
            ignore (resumer (Ok ()) : bool);
            None))
  in
  int "the value" 1 (once (Ok 1));
  next_wait ();
  raises "the exception" Exit (fun () -> once (Error Exit));
  next_wait ();
  int "no more" 2
    (Suspend.suspend (fun resumer ->
         in_domain (fun () -> yes "resumed" (resumer (Ok 2)));
         None))

exception Interrupt

(* The last interrupt may have come too late, so the next wait raises it. *)
let raise_kept () =
  try
    Suspend.suspend (fun resumer ->
        ignore (resumer (Ok ()) : bool);
        None)
  with Interrupt -> ()

(* If a resumer has returned [true], the thread gets the value, whenever a signal handler
   raises. *)
let interrupted_at_any_moment () =
  let resumers = Atomic.make None and stop = ref false in
  let said_true = ref 0 and got = ref 0 and interrupts = ref 0 in
  let resume () =
    while not !stop do
      match Atomic.exchange resumers None with
      | Some resumer -> if resumer (Ok ()) then incr said_true
      | None -> Thread.yield ()
    done
  in
  let once () =
    Suspend.suspend (fun resumer ->
        Atomic.set resumers (Some resumer);
        None);
    incr got
  in
  beside resume (fun () ->
      Fun.protect
        ~finally:(fun () -> stop := true)
        (fun () ->
          while !interrupts < 500 do
            let calls = ref 0 in
            Interrupting.run ~by:Interrupt ~count:interrupts (fun () ->
                while !calls < 200 do
                  incr calls;
                  once ()
                done)
          done));
  int "each value arrives" !said_true !got;
  raise_kept ()

(* Threads of a domain share the mutex on which they sleep. An interrupted thread must not
   leave it locked. Its next sleep would free the mutex, so here it only joins while another
   thread sleeps. *)
let others_sleep_afterwards () =
  let box = Concord.Mvar.create_empty () and over = Atomic.make false in
  let join =
    domain (fun () ->
        while not (Atomic.get over) do
          if not (Concord.Mvar.try_put box ()) then Domain.cpu_relax ()
        done)
  in
  Fun.protect ~finally:(fun () ->
      Atomic.set over true;
      join ())
  @@ fun () ->
  for _ = 1 to 100 do
    let until = Unix.gettimeofday () +. 0.02 in
    Interrupting.run ~by:Interrupt ~count:(ref 0) (fun () ->
        while Unix.gettimeofday () < until do
          Concord.Mvar.take box
        done);
    raise_kept ();
    let resumer = Atomic.make None in
    let sleep () =
      Suspend.suspend (fun r ->
          Atomic.set resumer (Some r);
          None)
    in
    let join = thread sleep in
    eventually "it waits" (fun () -> Option.is_some (Atomic.get resumer));
    (* By then it mostly sleeps. The test must also pass if it doesn't. *)
    Thread.delay 0.001;
    yes "resumed" ((Option.get (Atomic.get resumer)) (Ok ()));
    join ()
  done

(* A value that [block] has taken must not be lost. Callbacks of [Memprof] run where signal
   handlers do. This one raises at the first allocation after [block]. *)
let interrupted_after_block () =
  let taken = Some "taken" in
  let interrupt _ = raise Boom in
  let tracker = { Gc.Memprof.null_tracker with alloc_minor = interrupt } in
  let block _ =
    ignore (Gc.Memprof.start ~sampling_rate:1. tracker : _);
    taken
  in
  match Suspend.suspend block with
  | got ->
      (try Gc.Memprof.stop () with Boom -> Gc.Memprof.stop ());
      Alcotest.(check string) "the value of block" "taken" got
  | exception Boom ->
      Gc.Memprof.stop ();
      Alcotest.fail "the value of block is lost"

let () =
  run "Suspend, threads"
    [
      ( "signals",
        [
          test "a signal handler raises before a thread waits"
            interrupted_in_block;
        ]
        @ Interrupting.only
            (test "a handler raises when block has taken something"
               interrupted_after_block)
        @ Interrupting.only
            (test "a signal handler raises at any moment"
               interrupted_at_any_moment)
        @ Interrupting.only
            (test "the domain's other threads sleep and wake afterwards"
               others_sleep_afterwards) );
      ( "asleep",
        Concord_test_proc.only "who sleeps"
          [
            test "a signal handler raises in Condition.wait"
              interrupted_in_condition;
            test "waking one wakes no other" wakes_no_other_thread;
          ] );
    ]
