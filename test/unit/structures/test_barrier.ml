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

(* A cancelled task counts, so the others go through without it. *)
let doomed k () =
  let names = [ "a"; "b"; "c" ] in
  let others = List.filteri (fun i _ -> i <> k) names in
  traced ("d" :: others) @@ fun say ->
  let t = Barrier.create 4 in
  let tasks = all t say names in
  let cancelled = List.nth tasks k in
  yes "cancel" (Hand.cancel cancelled);
  waiting t 3;
  let _d = arrive t say "d" in
  waiting t 0;
  Hand.settle ();
  Hand.unwound cancelled;
  waiting t 0

(* Of two, none goes through without the other. *)
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

let polled () =
  let t = Barrier.create 3 in
  let a = Hand.start (fun () -> Barrier.await t) in
  let b = Hand.start (fun () -> Barrier.await t) in
  yes "cancel" (Hand.cancel b);
  yes "polled" (Event.poll (Barrier.await_evt t) = Some ());
  Hand.settle ();
  Hand.result a;
  Hand.unwound b;
  waiting t 0

(* While a round goes through, tasks of the next one come, and a task withdraws from the first
   one. The next round must not wait for one more because of that. *)
let withdraws_from_its_round () =
  let parties = 12 in
  let t = Barrier.create parties in
  let await () = Barrier.await t in
  let next = ref [] in
  let waits ~accepts =
    let suspend block k =
      let resumer _ =
        if accepts then
          next := List.init (parties - 2) (fun _ -> Hand.start await)
        else Effect.Deep.discontinue k Hand.Cancelled;
        accepts
      in
      yes "waits" (Option.is_none (block resumer))
    in
    Handled.run { suspend } ~ret:Fun.id (fun () ->
        try await () with Hand.Cancelled -> ())
  in
  waits ~accepts:true;
  waits ~accepts:false;
  let others = List.init (parties - 3) (fun _ -> Hand.start await) in
  await ();
  waiting t (parties - 2);
  next := Hand.start await :: !next;
  waiting t (parties - 1);
  yes "the next round" (Event.poll (Barrier.await_evt t) = Some ());
  Hand.settle ();
  List.iter Hand.result (others @ !next);
  waiting t 0

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

(* The choice takes the box, but its task hasn't run since. *)
let chose_otherwise () =
  traced [ "d"; "box"; "b"; "c" ] @@ fun say ->
  let t = Barrier.create 3 and box = Mvar.create_empty () in
  let _a = choose t box say in
  let _b = arrive t say "b" in
  waiting t 2;
  Mvar.put box ();
  waiting t 1;
  let _c = arrive t say "c" in
  waiting t 2;
  let _d = arrive t say "d" in
  Hand.settle ();
  waiting t 0

let () =
  run "Barrier"
    [
      ( "phases",
        [
          test "how many tasks" create;
          test "three phases in Fifo" in_fifo;
          test "threads and domains" domains;
        ]
        @ unless_debugged
            (test "another arrives before the registration"
               between_look_and_registration) );
      Outside.suite no_effect;
      ( "cancelled when the last one arrives",
        [
          test "in Fifo, eager" (in_fifo_cancelled `Eager);
          test "in Fifo, lazy" (in_fifo_cancelled `Lazy);
          test "one withdraws while its round goes through"
            withdraws_from_its_round;
        ] );
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
            ("a poll", polled);
            ("a choice that chose otherwise", chose_otherwise);
          ] );
      ( "in a choice",
        [
          test "the other is ready, or never" other_ready;
          test "the same barrier twice" twice;
          test "twice, in order, and beside others" twice_in_order;
        ]
        @ unless_debugged (test "many that have arrived" many_choose) );
    ]
