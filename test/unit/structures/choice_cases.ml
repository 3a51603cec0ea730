(* The event of such a lock among the alternatives of a choice. *)

open Concord
open Concord_test_support
open Check
open Lock_cases

let choose t other say =
  Hand.start @@ fun () ->
  Event.select
    [
      Event.wrap t.evt (fun () -> say "lock");
      Event.wrap (Mvar.take_evt other) (fun () -> say "other");
    ]

let polled make () =
  let t = make () in
  yes "free" (Event.poll t.evt = Some ());
  yes "held" (Event.poll t.evt = None);
  waiting t 0;
  t.release ();
  Event.sync t.evt;
  no "held" (t.try_acquire ())

let among_never make () =
  traced [ "lock" ] @@ fun say ->
  let t = held make in
  let other = Mvar.create_empty () in
  let task = choose t other say in
  waiting t 1;
  pass t;
  Hand.result task;
  int "withdrawn" 0 (Mvar.waiters other);
  no "held" (t.try_acquire ())

let among_always make () =
  traced [ "always" ] @@ fun say ->
  let t = held make in
  let always = Event.wrap (Event.always ()) (fun () -> say "always") in
  Event.select [ t.evt; always ];
  waiting t 0;
  t.release ();
  free t

(* Both are ready: one of them is performed, and each one some time. *)
let both_ready make () =
  let t = make () in
  let taken = ref 0 in
  for _ = 1 to 200 do
    let got =
      Event.select
        [
          Event.wrap t.evt (fun () -> true);
          Event.wrap (Event.always ()) (fun () -> false);
        ]
    in
    if got then incr taken else free t;
    no "held" (t.try_acquire ());
    t.release ()
  done;
  yes "both occur" (!taken > 0 && !taken < 200)

let loses make () =
  traced [ "other"; "next" ] @@ fun say ->
  let t = held make in
  let other = Mvar.create_empty () in
  let task = choose t other say in
  let next = Lock_cases.task t say "next" in
  Mvar.put other ();
  (* The choice is decided, and its task had no turn yet. *)
  pass t;
  Hand.result task;
  Hand.result next;
  waiting t 0;
  t.release ();
  free t

let wins make () =
  traced [ "lock" ] @@ fun say ->
  let t = held make in
  let other = Mvar.create_empty () in
  let task = choose t other say in
  t.release ();
  yes "nobody takes it" (Mvar.try_put other ());
  no "too late" (Hand.cancel task);
  Hand.settle ();
  Hand.result task;
  yes "it is there" (Mvar.take_available other = Some ());
  no "held" (t.try_acquire ())

let cancelled make () =
  traced [ "next" ] @@ fun say ->
  let t = held make in
  let other = Mvar.create_empty () in
  let task = choose t other say in
  let next = Lock_cases.task t say "next" in
  Hand.unwind task;
  waiting t 1;
  int "withdrawn" 0 (Mvar.waiters other);
  pass t;
  Hand.result next

let doomed make () =
  traced [ "next" ] @@ fun say ->
  let t = held make in
  let task = choose t (Mvar.create_empty ()) say in
  let next = Lock_cases.task t say "next" in
  yes "cancel" (Hand.cancel task);
  t.release ();
  Hand.settle ();
  Hand.unwound task;
  Hand.result next;
  waiting t 0

let turn make () =
  traced [ "first"; "lock"; "next" ] @@ fun say ->
  let t = held make in
  let _first = Lock_cases.task t say "first" in
  let _task = choose t (Mvar.create_empty ()) say in
  let _next = Lock_cases.task t say "next" in
  pass t;
  pass t;
  pass t

(* The same lock twice in a choice is taken once. *)
let twice make () =
  let t = held make in
  let task = Hand.start (fun () -> Event.select [ t.evt; t.evt ]) in
  waiting t 2;
  pass t;
  Hand.result task;
  waiting t 0;
  t.release ();
  free t

let suite make =
  ( "in a choice",
    [
      test "poll never waits" (polled make);
      test "the other is never ready" (among_never make);
      test "the other is always ready" (among_always make);
      test "both are ready" (both_ready make);
      test "the other is chosen: the lock passes on" (loses make);
      test "the lock is chosen: the other keeps its value" (wins make);
      test "cancelled" (cancelled make);
      test "cancelled, and refuses" (doomed make);
      test "a choice has its turn in the line" (turn make);
      test "the same lock twice" (twice make);
    ] )
