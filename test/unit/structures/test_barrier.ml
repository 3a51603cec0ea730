open Concord
open Concord_test_support
open Check

let waiting t n = int "waiters" n (Barrier.waiters t)

let arrive t say name =
  Hand.start (fun () ->
      Barrier.await t;
      say name)

let all t say = List.map (arrive t say)

(* --- Phases --------------------------------------------------------------- *)

let create () =
  raises "none"
    (Invalid_argument
       "Barrier.create: the number of parties is 0, but must be at least 1")
    (fun () -> Barrier.create 0);
  raises "fewer"
    (Invalid_argument
       "Barrier.create: the number of parties is -1, but must be at least 1")
    (fun () -> Barrier.create (-1));
  int "parties" 3 (Barrier.parties (Barrier.create 3));
  let alone = Barrier.create 1 in
  Barrier.await alone;
  Event.sync (Barrier.await_evt alone);
  waiting alone 0

let three_phases () =
  traced [ "c"; "a"; "b"; "f"; "d"; "e"; "c"; "b"; "a" ] @@ fun say ->
  let t = Barrier.create 3 in
  let phase names =
    let tasks = all t say names in
    waiting t 0;
    Hand.settle ();
    List.iter Hand.result tasks
  in
  phase [ "a"; "b"; "c" ];
  phase [ "d"; "e"; "f" ];
  phase [ "b"; "a"; "c" ]

let in_fifo () =
  traced [ "c 1"; "a 1"; "b 1"; "b 2"; "c 2"; "a 2"; "a 3"; "b 3"; "c 3" ]
  @@ fun say ->
  Concord_fifo.run @@ fun () ->
  let t = Barrier.create 3 in
  let work name () =
    for phase = 1 to 3 do
      Barrier.await t;
      say (Printf.sprintf "%s %d" name phase)
    done
  in
  List.iter Concord_fifo.join
    (List.map (fun name -> Concord_fifo.fork (work name)) [ "a"; "b"; "c" ])

(* The tasks of the last phase haven't run yet. *)
let next_phase () =
  traced [ "b"; "a"; "d"; "c" ] @@ fun say ->
  let t = Barrier.create 2 in
  let _first = all t say [ "a"; "b" ] in
  let _c = arrive t say "c" in
  waiting t 1;
  Hand.settle ();
  let _d = arrive t say "d" in
  Hand.settle ();
  waiting t 0

let between_look_and_registration () =
  traced [ "b"; "a" ] @@ fun say ->
  let t = Barrier.create 2 in
  let a = ref None in
  let before_block () = a := Some (arrive t say "a") in
  let b =
    Hand.start ~before_block (fun () ->
        Barrier.await t;
        say "b")
  in
  Hand.result b;
  Hand.settle ();
  Hand.result (Option.get !a);
  waiting t 0

let no_effect () =
  let t = Barrier.create 2 in
  yes "poll does not arrive" (Event.poll (Barrier.await_evt t) = None);
  waiting t 0;
  let a = Hand.start (fun () -> Barrier.await t) in
  waiting t 1;
  Barrier.await t;
  let b = Hand.start (fun () -> Barrier.await t) in
  yes "poll" (Event.poll (Barrier.await_evt t) = Some ());
  Hand.settle ();
  Hand.result a;
  Hand.result b

(* No task may be more than one phase ahead. *)
let domains () =
  let t = Barrier.create 3 in
  let phases = 500 in
  let at = Array.init 3 (fun _ -> Atomic.make 0) in
  let missing = Atomic.make 0 in
  let work me () =
    for phase = 1 to phases do
      Atomic.set at.(me) phase;
      Barrier.await t;
      Array.iter
        (fun it -> if Atomic.get it < phase then Atomic.incr missing)
        at
    done
  in
  let join = domain (fun () -> Concord_fifo.run (work 0)) in
  beside (work 1) (work 2);
  join ();
  int "all had arrived" 0 (Atomic.get missing);
  waiting t 0

(* --- Cancellation --------------------------------------------------------- *)

let replaced k () =
  let names = [ "a"; "b"; "c" ] in
  let others = List.filteri (fun i _ -> i <> k) names in
  traced ("e" :: (others @ [ "d" ])) @@ fun say ->
  let t = Barrier.create 4 in
  let tasks = all t say names in
  Hand.unwind (List.nth tasks k);
  waiting t 2;
  let _d = arrive t say "d" in
  waiting t 3;
  let _e = arrive t say "e" in
  Hand.settle ();
  waiting t 0

(* --- Cancelled, but not withdrawn yet --------------------------------------- *)

(* A cancelled task isn't counted, so the last one waits for another. The tasks that were
   asked before the refusal keep their positions. *)
let doomed k () =
  let names = [ "a"; "b"; "c" ] in
  let others = List.filteri (fun i _ -> i <> k) names in
  traced (("e" :: others) @ [ "d" ]) @@ fun say ->
  let t = Barrier.create 4 in
  let tasks = all t say names in
  let cancelled = List.nth tasks k in
  yes "cancel" (Hand.cancel cancelled);
  let d = arrive t say "d" in
  waiting t 3;
  Hand.settle ();
  Hand.unwound cancelled;
  waiting t 3;
  yes "d waits" (Hand.waits d);
  let _e = arrive t say "e" in
  Hand.settle ();
  waiting t 0

let alone () =
  traced [ "c"; "b" ] @@ fun say ->
  let t = Barrier.create 2 in
  let a = arrive t say "a" in
  yes "cancel" (Hand.cancel a);
  let b = arrive t say "b" in
  yes "b does not pass alone" (Hand.waits b);
  Hand.settle ();
  Hand.unwound a;
  yes "nor later" (Hand.waits b);
  waiting t 1;
  let _c = arrive t say "c" in
  Hand.settle ();
  waiting t 0

(* There are two rounds, before any task of the first round runs. *)
let withdraws_late () =
  traced [ "c"; "b"; "e"; "d" ] @@ fun say ->
  let t = Barrier.create 2 in
  let a = arrive t say "a" in
  yes "cancel" (Hand.cancel a);
  let _b = arrive t say "b" in
  let _c = arrive t say "c" in
  let _d = arrive t say "d" in
  Hand.settle ();
  Hand.unwound a;
  waiting t 1;
  let _e = arrive t say "e" in
  Hand.settle ();
  waiting t 0

(* [c] is the last to arrive. So [a] is asked and accepts, but then [b] refuses. *)
let asked_in_vain start =
  let t = Barrier.create 3 in
  let a = start t in
  let b = Hand.start (fun () -> Barrier.await t) in
  yes "cancel" (Hand.cancel b);
  let c = Hand.start (fun () -> Barrier.await t) in
  no "a has been asked" (Hand.cancel a);
  (t, a, b, c)

let await t = Hand.start (fun () -> Barrier.await t)

let cancelled_after_it_was_asked () =
  let t, a, b, c = asked_in_vain await in
  Hand.stop a;
  Hand.settle ();
  List.iter Hand.unwound [ a; b ];
  waiting t 1;
  let d = await t in
  waiting t 2;
  Barrier.await t;
  Hand.settle ();
  List.iter Hand.result [ c; d ];
  waiting t 0

(* No task may overtake one that was asked in vain, even if there are enough newcomers for a
   round. *)
let newcomers () =
  traced [ "a"; "c"; "d"; "g"; "e"; "f" ] @@ fun say ->
  let t, _, _, unnamed = asked_in_vain (fun t -> arrive t say "a") in
  yes "cancel" (Hand.cancel unnamed);
  let _c = arrive t say "c" in
  let _d = arrive t say "d" in
  let _e = arrive t say "e" in
  let _f = arrive t say "f" in
  Hand.settle ();
  waiting t 2;
  let _g = arrive t say "g" in
  Hand.settle ();
  waiting t 0

(* Newcomers wait for [a], which was asked in vain. Then [a] is cancelled. *)
let newcomers_go_on () =
  let t, a, b, c = asked_in_vain await in
  let d = await t and e = await t in
  waiting t 4;
  Hand.stop a;
  Hand.settle ();
  List.iter Hand.unwound [ a; b ];
  List.iter Hand.result [ c; d; e ];
  waiting t 0

let polled_in_vain () =
  let t = Barrier.create 3 in
  let a = await t and b = await t in
  yes "cancel" (Hand.cancel b);
  no "polled" (Event.poll (Barrier.await_evt t) <> None);
  waiting t 1;
  no "before its turn" (Event.poll (Barrier.await_evt t) <> None);
  Hand.settle ();
  Hand.unwound b;
  waiting t 1;
  let c = await t in
  yes "polled" (Event.poll (Barrier.await_evt t) = Some ());
  Hand.settle ();
  List.iter Hand.result [ a; c ]

let in_fifo_cancelled cancellation () =
  traced [ "c"; "b" ] @@ fun say ->
  Concord_fifo.run ~cancellation @@ fun () ->
  let t = Barrier.create 2 in
  let await name () =
    Barrier.await t;
    say name
  in
  let a = Concord_fifo.fork (await "a") in
  Concord_fifo.cancel a;
  let b = Concord_fifo.fork (await "b") in
  Concord_fifo.yield ();
  int "b waits" 1 (Barrier.waiters t);
  let c = Concord_fifo.fork (await "c") in
  List.iter Concord_fifo.join [ a; b; c ]

(* --- In a choice ---------------------------------------------------------- *)

let choose t box say =
  Hand.start @@ fun () ->
  Event.select
    [
      Event.wrap (Barrier.await_evt t) (fun () -> say "barrier");
      Event.wrap (Mvar.take_evt box) (fun () -> say "box");
    ]

let other_ready () =
  let t = Barrier.create 2 in
  Event.select [ Barrier.await_evt t; Event.always () ];
  waiting t 0;
  let a = Hand.start (fun () -> Barrier.await t) in
  Event.select [ Barrier.await_evt t; Event.never ];
  Hand.settle ();
  Hand.result a

(* The task arrives once, although the barrier is in both alternatives. *)
let twice () =
  traced [ "c"; "once"; "b" ] @@ fun say ->
  let t = Barrier.create 3 in
  let _once =
    Hand.start (fun () ->
        Event.select [ Barrier.await_evt t; Barrier.await_evt t ];
        say "once")
  in
  waiting t 1;
  let _b = arrive t say "b" in
  waiting t 2;
  let _c = arrive t say "c" in
  Hand.settle ();
  let choice = [ Barrier.await_evt t; Barrier.await_evt t ] in
  Hand.unwind (Hand.start (fun () -> Event.select choice));
  waiting t 0;
  let t = Barrier.create 2 in
  let task =
    Hand.start (fun () -> Event.select (List.map Barrier.await_evt [ t; t ]))
  in
  waiting t 1;
  Barrier.await t;
  Hand.settle ();
  Hand.result task

let twice_in_order () =
  let t = Barrier.create 2 in
  let both = List.map Barrier.await_evt [ t; t ] in
  let task = Hand.start (fun () -> Event.sync (Event.prefer both)) in
  let between =
    Hand.start (fun () ->
        Event.select
          (Event.never :: Barrier.await_evt (Barrier.create 2) :: both))
  in
  Hand.settle ();
  List.iter Hand.result [ task; between ];
  waiting t 0

(* Compares the processor time of 40,000 arrivals. If a choice looked at all tasks that have
   arrived, it would take 60 times as long. *)
let many_choose () =
  let n = 40_000 in
  let time wait =
    let t = Barrier.create (n + 1) in
    let before = Sys.time () in
    for _ = 1 to n do
      ignore (Hand.watch (fun () -> wait t) : bool ref)
    done;
    waiting t n;
    Sys.time () -. before
  in
  let alone = time Barrier.await in
  let choose t = Event.select [ Barrier.await_evt t; Event.never ] in
  let chosen = time choose in
  if chosen > 15. *. alone then
    Alcotest.failf "%.3f s instead of %.3f" chosen alone

(* --- A choice that was asked in vain ---------------------------------------- *)

let chooses_again () =
  traced [ "box"; "e"; "c"; "d" ] @@ fun say ->
  let box = Mvar.create_empty () in
  let t, a, b, unnamed = asked_in_vain (fun t -> choose t box say) in
  yes "cancel" (Hand.cancel unnamed);
  let _c = arrive t say "c" in
  Hand.settle ();
  Hand.unwound b;
  yes "it waits again" (Hand.waits a);
  waiting t 2;
  Mvar.put box ();
  Hand.settle ();
  Hand.result a;
  waiting t 1;
  let _d = arrive t say "d" in
  let _e = arrive t say "e" in
  Hand.settle ();
  waiting t 0

(* The choice arrives again, behind the tasks that came meanwhile. *)
let arrives_again sync () =
  let t, a, b, c = asked_in_vain (fun t -> Hand.start (fun () -> sync t)) in
  waiting t 1;
  Hand.settle ();
  Hand.unwound b;
  waiting t 2;
  Barrier.await t;
  Hand.settle ();
  List.iter Hand.result [ a; c ];
  waiting t 0

let is_cancelled_again sync () =
  let t, a, b, c = asked_in_vain (fun t -> Hand.start (fun () -> sync t)) in
  Hand.stop a;
  Hand.settle ();
  List.iter Hand.unwound [ a; b ];
  waiting t 1;
  let d = await t in
  Barrier.await t;
  Hand.settle ();
  List.iter Hand.result [ c; d ]

let ways =
  [
    ("sync", fun t -> Event.sync (Barrier.await_evt t));
    ("a choice", fun t -> Event.select [ Barrier.await_evt t; Event.never ]);
    ("twice", fun t -> Event.select (List.map Barrier.await_evt [ t; t ]));
  ]

let keeps_its_deadline () =
  let seconds = 0.02 in
  let start = Unix.gettimeofday () in
  let t, a, _, _ =
    asked_in_vain (fun t ->
        Hand.start (fun () ->
            Event.sync_before seconds (Barrier.await_evt t) |> function
            | Some () -> Alcotest.fail "it has passed"
            | None -> ()))
  in
  eventually "the deadline" (fun () ->
      Unix.gettimeofday () > start +. (2. *. seconds));
  Hand.settle ();
  Hand.result a;
  waiting t 1

(* An alternative that was asked in vain is not aborted then, but only once, when the choice
   ends. *)
let aborts_once () =
  traced [ "aborted" ] @@ fun say ->
  let box = Mvar.create_empty () in
  let _, a, _, _ =
    asked_in_vain (fun t ->
        Hand.start (fun () ->
            Event.select
              [
                Event.wrap_abort (Barrier.await_evt t) (fun () -> say "aborted");
                Mvar.take_evt box;
              ]))
  in
  Hand.settle ();
  yes "it waits again" (Hand.waits a);
  Mvar.put box ();
  Hand.settle ();
  Hand.result a

(* The signal comes while the task is out of the condition's queue. *)
let misses_no_signal () =
  let mutex = Mutex.create () and condition = Condition.create () in
  let t, a, _, _ =
    asked_in_vain (fun t ->
        Hand.start (fun () ->
            Mutex.lock mutex;
            Event.select
              [
                Barrier.await_evt t;
                Event.wrap (Condition.wait_evt condition mutex) (fun () ->
                    yes "locked" (Mutex.is_locked mutex));
              ];
            Mutex.unlock mutex))
  in
  Condition.signal condition;
  Hand.settle ();
  Hand.result a;
  no "locked" (Mutex.is_locked mutex);
  waiting t 1

let () =
  run "Barrier"
    ([
       ( "phases",
         [
           test "how many tasks" create;
           test "three phases" three_phases;
           test "the same in Fifo" in_fifo;
           test "an early task belongs to the next phase" next_phase;
           test "threads and domains" domains;
         ]
         @ unless_debugged
             (test "another arrives before the registration"
                between_look_and_registration) );
       Outside.suite no_effect;
       ( "cancellation",
         [
           test "the first is replaced" (replaced 0);
           test "the second is replaced" (replaced 1);
           test "the last is replaced" (replaced 2);
         ] );
       ( "cancelled when the last one arrives",
         [
           test "the first of three" (doomed 0);
           test "the second" (doomed 1);
           test "the third" (doomed 2);
           test "the other one does not pass alone" alone;
           test "it withdraws from its own phase only" withdraws_late;
           test "the same in Fifo, eager" (in_fifo_cancelled `Eager);
           test "in Fifo, lazy" (in_fifo_cancelled `Lazy);
           test "one that was asked is cancelled too"
             cancelled_after_it_was_asked;
           test "newcomers do not overtake" newcomers;
           test "newcomers continue when it is cancelled" newcomers_go_on;
           test "a poll asks in vain" polled_in_vain;
         ] );
       ( "a choice is asked in vain",
         [
           test "it chooses otherwise" chooses_again;
           test "its timeout keeps the deadline" keeps_its_deadline;
           test "it aborts once" aborts_once;
           test "it misses no signal" misses_no_signal;
         ]
         @ List.concat_map
             (fun (name, sync) ->
               [
                 test (name ^ ": it arrives again") (arrives_again sync);
                 test (name ^ ": it is cancelled") (is_cancelled_again sync);
               ])
             ways );
       ( "whichever waits spin",
         List.map
           (fun (name, f) -> test name (Spinning.each f))
           [
             ("three phases", three_phases);
             ("early tasks", next_phase);
             ("the second is replaced", replaced 1);
             ("the first was cancelled", doomed 0);
             ("the second was cancelled", doomed 1);
             ("the third was cancelled", doomed 2);
             ("the other one does not pass alone", alone);
             ("it withdraws from its own phase only", withdraws_late);
             ("one that was asked is cancelled", cancelled_after_it_was_asked);
             ("newcomers do not overtake", newcomers);
             ("newcomers continue", newcomers_go_on);
             ("a poll asks in vain", polled_in_vain);
             ("a choice is asked in vain", chooses_again);
           ] );
       ( "in a choice",
         [
           test "the other is ready, or never" other_ready;
           test "the same barrier twice" twice;
           test "twice, in order, and beside others" twice_in_order;
         ]
         @ unless_debugged (test "many that have arrived" many_choose) );
     ]
    @ Battery.suites Operations.barrier)
