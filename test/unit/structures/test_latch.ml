open Concord
open Concord_test_support
open Check

let waiting t n = int "waiters" n (Latch.waiters t)

let wait t say name =
  Hand.start (fun () ->
      Latch.await t;
      say name)

let names = [ "a"; "b"; "c" ]

let misuse () =
  raises "create" (Invalid_argument "Latch.create: negative count") (fun () ->
      Latch.create (-1));
  let closed = Invalid_argument "Latch.count_down: the latch is open" in
  let t = Latch.create 1 in
  Latch.count_down t;
  raises "once too often" closed (fun () -> Latch.count_down t);
  yes "it stays open" (Latch.is_open t);
  int "count" 0 (Latch.count t);
  raises "open from the start" closed (fun () ->
      Latch.count_down (Latch.create 0))

let in_order () =
  traced [ "counted"; "open"; "a"; "b"; "c" ] @@ fun say ->
  let t = Latch.create 2 in
  let tasks = List.map (wait t say) names in
  waiting t 3;
  Latch.count_down t;
  Hand.settle ();
  say "counted";
  int "count" 1 (Latch.count t);
  no "still shut" (Latch.is_open t);
  Latch.count_down t;
  yes "open" (Latch.is_open t);
  waiting t 0;
  say "open";
  Hand.settle ();
  List.iter Hand.result tasks;
  Latch.await t;
  Event.sync (Latch.await_evt t)

let in_fifo () =
  traced [ "shut"; "a"; "b"; "c"; "late" ] @@ fun say ->
  Concord_fifo.run @@ fun () ->
  let t = Latch.create 1 in
  let await name () =
    Latch.await t;
    say name
  in
  let tasks = List.map (fun name -> Concord_fifo.fork (await name)) names in
  say "shut";
  Latch.count_down t;
  Concord_fifo.yield ();
  await "late" ();
  List.iter Concord_fifo.join tasks

let before_block () =
  let t = Latch.create 1 in
  let before_block () = Latch.count_down t in
  Hand.result (Hand.start ~before_block (fun () -> Latch.await t));
  waiting t 0

let no_effect () =
  let t = Latch.create 2 in
  yes "poll" (Event.poll (Latch.await_evt t) = None);
  let task = Hand.start (fun () -> Latch.await t) in
  waiting t 1;
  Latch.count_down t;
  int "count" 1 (Latch.count t);
  no "shut" (Latch.is_open t);
  Latch.count_down t;
  Latch.await t;
  yes "poll" (Event.poll (Latch.await_evt t) = Some ());
  Hand.settle ();
  Hand.result task

let domains () =
  let n = 1000 in
  let t = Latch.create (3 * n) in
  let counted = Atomic.make 0 and early = Atomic.make 0 in
  let work () =
    for _ = 1 to n do
      Atomic.incr counted;
      Latch.count_down t
    done;
    Latch.await t;
    if Atomic.get counted < 3 * n then Atomic.incr early
  in
  let join = domain (fun () -> Concord_fifo.run work) in
  beside work work;
  join ();
  int "all had counted" 0 (Atomic.get early);
  yes "open" (Latch.is_open t)

(* --- Cancellation --------------------------------------------------------- *)

let cancelled k () =
  traced (List.filteri (fun i _ -> i <> k) names) @@ fun say ->
  let t = Latch.create 1 in
  let tasks = List.map (wait t say) names in
  Hand.unwind (List.nth tasks k);
  waiting t 2;
  int "the count stays" 1 (Latch.count t);
  Latch.count_down t;
  Hand.settle ()

let doomed () =
  traced [ "b" ] @@ fun say ->
  let t = Latch.create 1 in
  let tasks = List.map (wait t say) names in
  let cancel k = yes "cancel" (Hand.cancel (List.nth tasks k)) in
  cancel 0;
  cancel 2;
  Latch.count_down t;
  Hand.settle ();
  List.iter (fun k -> Hand.unwound (List.nth tasks k)) [ 0; 2 ];
  waiting t 0;
  yes "open" (Latch.is_open t)

let resumed_then_cancelled () =
  let t = Latch.create 1 in
  let task = Hand.start (fun () -> Latch.await t) in
  Latch.count_down t;
  no "too late" (Hand.cancel task);
  Hand.settle ();
  Hand.result task

let bulk wait () =
  let t = Latch.create 1 in
  let start () = Hand.start (fun () -> wait t) in
  let before = words t in
  for _ = 1 to 10_000 do
    ignore (Hand.cancel (start ()) : bool);
    Hand.settle ()
  done;
  waiting t 0;
  int "one by one: words" before (words t);
  let tasks = List.init 10_000 (fun _ -> start ()) in
  waiting t 10_000;
  List.iter (fun task -> ignore (Hand.cancel task : bool)) tasks;
  Hand.settle ();
  waiting t 0;
  int "all at once: words" before (words t);
  (* Nor do those that went through. *)
  let _tasks = List.init 1000 (fun _ -> start ()) in
  Latch.count_down t;
  yes "open: words" (words t <= before);
  Hand.settle ()

(* --- In a choice ---------------------------------------------------------- *)

let choose t box say =
  Hand.start @@ fun () ->
  Event.select
    [
      Event.wrap (Latch.await_evt t) (fun () -> say "latch");
      Event.wrap (Mvar.take_evt box) (fun () -> say "box");
    ]

let choice () =
  traced [ "box"; "latch" ] @@ fun say ->
  let t = Latch.create 1 and box = Mvar.create_empty () in
  let a = choose t box say in
  waiting t 1;
  Mvar.put box ();
  Hand.settle ();
  Hand.result a;
  waiting t 0;
  int "the count stays" 1 (Latch.count t);
  Hand.unwind (choose t box say);
  waiting t 0;
  let b = choose t box say in
  Latch.count_down t;
  yes "nobody takes it" (Mvar.try_put box ());
  Hand.settle ();
  Hand.result b;
  yes "it is there" (Mvar.take_available box = Some ())

let choice_ready () =
  let t = Latch.create 1 in
  Event.select [ Latch.await_evt t; Event.always () ];
  waiting t 0;
  Latch.count_down t;
  Event.select [ Latch.await_evt t; Event.never ];
  Event.select [ Latch.await_evt t; Mvar.take_evt (Mvar.create_empty ()) ]

let () =
  run "Latch"
    [
      ( "operations",
        [
          test "misuse" misuse;
          test "opens in order" in_order;
          test "the same in Fifo" in_fifo;
          test "it opens before the registration" before_block;
          test "threads and domains" domains;
        ] );
      Outside.suite no_effect;
      ( "cancellation",
        [
          test "the first waiter" (cancelled 0);
          test "the second waiter" (cancelled 1);
          test "the last waiter" (cancelled 2);
          test "it opens for cancelled tasks" doomed;
          test "resumed, then cancelled: it returns" resumed_then_cancelled;
          test "10,000 cancelled waits leave no memory" (bulk Latch.await);
          test "10,000 cancelled events leave no memory"
            (bulk (fun t -> Event.sync (Latch.await_evt t)));
        ] );
      ( "in a choice",
        [
          test "the latch and another alternative" choice;
          test "one of the two is ready" choice_ready;
        ] );
    ]
