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
  let expected = Invalid_argument "Barrier.create: fewer than 1 task" in
  raises "none" expected (fun () -> Barrier.create 0);
  raises "fewer" expected (fun () -> Barrier.create (-1));
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

(* Those of the last phase had no turn yet. *)
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

(* Nobody is more than one phase ahead. *)
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
  Lock_cases.cancel (List.nth tasks k);
  waiting t 2;
  let _d = arrive t say "d" in
  waiting t 3;
  let _e = arrive t say "e" in
  Hand.settle ();
  waiting t 0

let resumed_then_cancelled () =
  let t = Barrier.create 2 in
  let a = Hand.start (fun () -> Barrier.await t) in
  Barrier.await t;
  no "too late" (Hand.cancel a);
  Hand.settle ();
  Hand.result a;
  waiting t 0

(* Cancelled, but it had no turn yet to withdraw: the others go through. *)
let doomed () =
  traced [ "c"; "b" ] @@ fun say ->
  let t = Barrier.create 3 in
  let a = arrive t say "a" in
  let b = arrive t say "b" in
  yes "cancel" (Hand.cancel a);
  let c = arrive t say "c" in
  Hand.settle ();
  Lock_cases.unwound a;
  Hand.result b;
  Hand.result c;
  waiting t 0;
  (* Neither did it leave the next phase. *)
  let d = Hand.start (fun () -> Barrier.await t) in
  let e = Hand.start (fun () -> Barrier.await t) in
  waiting t 2;
  Barrier.await t;
  Hand.settle ();
  Hand.result d;
  Hand.result e

(* The same; but one of the next phase has arrived when it withdraws. *)
let withdraws_late () =
  let t = Barrier.create 2 in
  let a = Hand.start (fun () -> Barrier.await t) in
  yes "cancel" (Hand.cancel a);
  Barrier.await t;
  let b = Hand.start (fun () -> Barrier.await t) in
  Hand.settle ();
  Lock_cases.unwound a;
  waiting t 1;
  Barrier.await t;
  Hand.settle ();
  Hand.result b

let bulk wait () =
  let t = Barrier.create 20_000 in
  let start () = Hand.start (fun () -> wait t) in
  let before = words t in
  for _ = 1 to 10_000 do
    Lock_cases.cancel_quietly (start ())
  done;
  waiting t 0;
  int "one by one: words" before (words t);
  let tasks = List.init 10_000 (fun _ -> start ()) in
  waiting t 10_000;
  List.iter (fun task -> ignore (Hand.cancel task : bool)) tasks;
  Hand.settle ();
  waiting t 0;
  int "all at once: words" before (words t)

(* --- In a choice ---------------------------------------------------------- *)

let choose t box say =
  Hand.start @@ fun () ->
  Event.select
    [
      Event.wrap (Barrier.await_evt t) (fun () -> say "barrier");
      Event.wrap (Mvar.take_evt box) (fun () -> say "box");
    ]

let arrives_by_choice () =
  traced [ "last"; "barrier" ] @@ fun say ->
  let t = Barrier.create 2 and box = Mvar.create_empty () in
  let task = choose t box say in
  waiting t 1;
  let _last = arrive t say "last" in
  yes "nobody takes it" (Mvar.try_put box ());
  Hand.settle ();
  Hand.result task;
  yes "it is there" (Mvar.take_available box = Some ());
  Lock_cases.cancel (choose t box say);
  waiting t 0

let chooses_otherwise () =
  traced [ "box"; "c"; "b" ] @@ fun say ->
  let t = Barrier.create 2 and box = Mvar.create_empty () in
  let task = choose t box say in
  Mvar.put box ();
  Hand.settle ();
  Hand.result task;
  waiting t 0;
  let _b = arrive t say "b" in
  waiting t 1;
  let _c = arrive t say "c" in
  Hand.settle ()

let other_ready () =
  let t = Barrier.create 2 in
  Event.select [ Barrier.await_evt t; Event.always () ];
  waiting t 0;
  let a = Hand.start (fun () -> Barrier.await t) in
  Event.select [ Barrier.await_evt t; Event.never ];
  Hand.settle ();
  Hand.result a

(* It arrives once, whichever alternative it is. *)
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
  Lock_cases.cancel (Hand.start (fun () -> Event.select choice));
  waiting t 0;
  let t = Barrier.create 2 in
  let task =
    Hand.start (fun () -> Event.select (List.map Barrier.await_evt [ t; t ]))
  in
  waiting t 1;
  Barrier.await t;
  Hand.settle ();
  Hand.result task

let () =
  run "Barrier"
    [
      ( "phases",
        [
          test "how many tasks" create;
          test "three phases" three_phases;
          test "the same in Fifo" in_fifo;
          test "who comes early belongs to the next phase" next_phase;
          test "another arrives before the registration"
            between_look_and_registration;
          test "threads and domains" domains;
        ] );
      Outside.suite no_effect;
      ( "cancellation",
        [
          test "the first is replaced" (replaced 0);
          test "the second is replaced" (replaced 1);
          test "the last is replaced" (replaced 2);
          test "resumed, then cancelled: it goes through" resumed_then_cancelled;
          test "cancelled when the last one arrives" doomed;
          test "it withdraws from its own phase only" withdraws_late;
          test "10,000 cancelled waits leave no memory" (bulk Barrier.await);
          test "10,000 cancelled events leave no memory"
            (bulk (fun t -> Event.sync (Barrier.await_evt t)));
        ] );
      ( "in a choice",
        [
          test "it arrives by a choice" arrives_by_choice;
          test "it chooses otherwise" chooses_otherwise;
          test "the other is ready, or never" other_ready;
          test "the same barrier twice" twice;
        ] );
    ]
