(* Tasks on two domains meet at barriers and signal each other, while some are cancelled. No
   task passes early, and no signal is lost. *)

open Concord
open Concord_test_support.Race
open Crew

(* --- Conditions -------------------------------------------------------------- *)

(* Of 16 waiting tasks, 8 may be cancelled while 8 signals come. Each signal wakes one task,
   because a signal that meets a cancelled task goes to the next one. *)
let signals ~times hosts =
  let waiting = 16 and sent = 8 in
  let mutex = Mutex.create () and condition = Condition.create () in
  let together = Barrier.create (waiting + 2) in
  let all_wait = Atomic.make (Latch.create 0) in
  let woken = Semaphore.Counting.make 0 in
  (* A task counts down while it holds the mutex, and releases the mutex when it waits. *)
  let wait entered =
    Mutex.protect mutex (fun () ->
        entered := true;
        Latch.count_down (Atomic.get all_wait);
        Condition.wait condition mutex);
    Semaphore.Counting.release woken
  in
  let victim crew () =
    let entered = ref false in
    ignore (attempt crew (fun () -> wait entered) : unit option);
    if not !entered then Latch.count_down (Atomic.get all_wait)
  and survivor () = wait (ref false) in
  let after_all_wait () =
    Latch.await (Atomic.get all_wait);
    Mutex.protect mutex ignore
  in
  let disturb crew () =
    after_all_wait ();
    for _ = 1 to sent do
      cancel_somebody crew;
      yield crew
    done
  in
  let signal crew () =
    after_all_wait ();
    for _ = 1 to sent do
      Condition.signal condition;
      if at_random crew 2 then cancel_somebody crew;
      if at_random crew 4 then yield crew
    done;
    let acquire = Semaphore.Counting.acquire_evt woken in
    for _ = 1 to sent do
      if Event.sync_before 30. acquire = None then fail "a signal is lost"
    done;
    yield crew;
    if Semaphore.Counting.try_acquire woken then
      fail "more are woken than signals were sent";
    Condition.broadcast condition
  in
  let in_rounds ~before f () =
    for _ = 1 to times do
      before ();
      Barrier.await together;
      f ();
      Barrier.await together
    done
  in
  (* At this moment no other task uses these. *)
  let prepare () =
    Atomic.set all_wait (Latch.create waiting);
    while Semaphore.Counting.try_acquire woken do
      ()
    done
  in
  let tasks crew =
    let others f =
      List.init (waiting / 4) (fun _ -> in_rounds ~before:ignore f)
    in
    let one_more =
      if crew.index = 0 then in_rounds ~before:prepare (signal crew)
      else in_rounds ~before:ignore (disturb crew)
    in
    (one_more :: others (victim crew)) @ others survivor
  in
  let tally = storm hosts tasks in
  if Condition.waiters condition > 0 then fail "a task waits for a signal";
  tally

(* --- Barriers ---------------------------------------------------------------- *)

(* Nothing is cancelled. No task is a round ahead of another. *)
let in_step ~times hosts =
  let parties = 6 in
  let barrier = Barrier.create parties in
  let rounds = Array.init parties (fun _ -> Atomic.make 0) in
  let behind round = Array.exists (fun r -> Atomic.get r < round) rounds in
  let rec work crew i round =
    if round <= times then begin
      Atomic.set rounds.(i) round;
      if at_random crew 3 then yield crew;
      if at_random crew 2 then Barrier.await barrier
      else Event.sync (Barrier.await_evt barrier);
      if behind round then fail "a task is missing in round %d" round;
      work crew i (round + 1)
    end
  in
  let tasks crew =
    List.init (parties / 2) (fun i () -> work crew ((2 * i) + crew.index) 1)
  in
  ignore (storm hosts tasks : int * int);
  if Barrier.waiters barrier <> 0 then fail "a task waits at the barrier";
  (parties * times, 0)

(* A cancelled task comes again, perhaps when the others have passed. So [parties - 1] helpers
   come until all tasks have finished. No task passes before enough have come. Of two, none
   passes alone, so tasks pass in twos. Of three, the others may pass without one that was
   cancelled. *)
let meet ~parties ~times hosts =
  let barrier = Barrier.create parties in
  let came = Atomic.make 0 and passed = Atomic.make 0 in
  let working = Atomic.make 8 and finished = Promise.create () in
  let through event =
    Atomic.incr came;
    event ();
    let n = Atomic.fetch_and_add passed 1 in
    let full = ((n / parties) + 1) * parties in
    if Atomic.get came < full then fail "%d passed, before %d came" (n + 1) full
  in
  let ways =
    [|
      (fun () -> Barrier.await barrier);
      (fun () -> Event.sync (Barrier.await_evt barrier));
      (fun () -> Event.select [ Event.never; Barrier.await_evt barrier ]);
    |]
  in
  let work crew () =
    for _ = 1 to times do
      insist crew (fun () -> through (any crew ways))
    done;
    if Atomic.fetch_and_add working (-1) = 1 then Promise.fill finished ()
  in
  let rec help () =
    Atomic.incr came;
    let passes = Event.wrap (Barrier.await_evt barrier) (fun () -> true)
    and ends = Event.wrap (Promise.await_evt finished) (fun () -> false) in
    if Event.select [ passes; ends ] then begin
      Atomic.incr passed;
      help ()
    end
  in
  let tasks crew =
    let workers = List.init 4 (fun _ -> work crew) in
    if crew.index < parties - 1 then help :: workers else workers
  in
  let tally = storm hosts tasks in
  if Barrier.waiters barrier <> 0 then fail "a task waits at the barrier";
  if parties = 2 && Atomic.get passed mod 2 <> 0 then
    fail "%d passed, not in twos" (Atomic.get passed);
  tally

(* --- Leaving ----------------------------------------------------------------- *)

(* While 4 tasks wait, 12 others come and are cancelled on both sides at once, so that the
   queue is rebuilt meanwhile. It must then count 4. *)
let leaving ~times (a, b) =
  (* Tasks that were cancelled lazily leave only when nothing else is ready, so this uses the
     eager host. *)
  let eager side = if side == lazy_fifo then fifo else side in
  let gate = Atomic.make (Latch.create 1) in
  let others = Barrier.create 14 and all = Barrier.create 18 in
  let survivor () =
    for _ = 1 to times do
      Latch.await (Atomic.get gate);
      Barrier.await all
    done
  in
  let tasks crew =
    let gone = ref 0 in
    let victim () =
      for _ = 1 to times do
        Barrier.await others;
        let wait () = Latch.await (Atomic.get gate) in
        if attempt crew wait <> None then fail "the gate is open";
        incr gone;
        Barrier.await others;
        Barrier.await all
      done
    in
    let cancel_all () =
      while !gone < 6 do
        cancel_somebody crew;
        yield crew
      done;
      gone := 0
    in
    let other () =
      for _ = 1 to times do
        let latch = Atomic.get gate in
        while crew.index = 0 && Latch.waiters latch < 4 do
          yield crew
        done;
        Barrier.await others;
        cancel_all ();
        Barrier.await others;
        if crew.index = 0 then begin
          let n = Latch.waiters latch in
          if n <> 4 then fail "4 wait, and %d are counted" n;
          Atomic.set gate (Latch.create 1);
          Latch.count_down latch
        end;
        Barrier.await all
      done
    in
    other :: List.init 8 (fun i -> if i < 2 then survivor else victim)
  in
  storm (eager a, eager b) tasks

let () =
  rounds
    (if long then 1_000 else 4)
    [
      ("signals", signals ~times:200);
      ("barrier of two", meet ~parties:2 ~times:1_000);
      ("barrier of three", meet ~parties:3 ~times:1_000);
      ("leaving", leaving ~times:150);
      ("barrier, in step", in_step ~times:1_000);
    ]
