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
  raises "create"
    (Invalid_argument "Latch.create: the count is -1, but must not be negative")
    (fun () -> Latch.create (-1));
  let closed = Invalid_argument "Latch.count_down: the latch is open" in
  let t = Latch.create 1 in
  Latch.count_down t;
  raises "once too often" closed (fun () -> Latch.count_down t);
  yes "it stays open" (Latch.is_open t);
  int "count" 0 (Latch.count t);
  raises "open from the start" closed (fun () ->
      Latch.count_down (Latch.create 0))

let up_and_down () =
  traced [ "two more"; "last"; "a"; "b"; "c" ] @@ fun say ->
  let t = Latch.create 1 in
  let tasks = List.map (wait t say) names in
  Latch.count_up t;
  Latch.count_up t;
  int "count" 3 (Latch.count t);
  Latch.count_down t;
  Latch.count_up t;
  Latch.count_down t;
  Latch.count_down t;
  Hand.settle ();
  say "two more";
  int "count" 1 (Latch.count t);
  yes "an event waits" (Event.poll (Latch.await_evt t) = None);
  Latch.count_down t;
  say "last";
  Hand.settle ();
  List.iter Hand.result tasks;
  let open_ = Invalid_argument "Latch.count_up: the latch is open" in
  raises "it never shuts again" open_ (fun () -> Latch.count_up t);
  yes "it stays open" (Latch.is_open t);
  raises "open from the start" open_ (fun () -> Latch.count_up (Latch.create 0));
  let t = Latch.create max_int in
  raises "too many" (Sys_error "Latch.count_up: overflow") (fun () ->
      Latch.count_up t);
  int "unchanged" max_int (Latch.count t)

(* Each task starts others. The waiter must see that all have ended. *)
let growing () =
  let t = Latch.create 2 and ended = Atomic.make 0 in
  let rec work depth () =
    if depth > 0 then
      for _ = 1 to 3 do
        Latch.count_up t;
        ignore (Concord_fifo.fork (work (depth - 1)))
      done;
    Concord_fifo.yield ();
    Atomic.incr ended;
    Latch.count_down t
  in
  let early = Atomic.make 0 in
  let tasks () =
    Concord_fifo.run @@ fun () ->
    work 5 ();
    Latch.await t;
    if Atomic.get ended < 2 * 364 then Atomic.incr early
  in
  let join = domain tasks in
  tasks ();
  join ();
  int "no task continues early" 0 (Atomic.get early);
  int "all have ended" (2 * 364) (Atomic.get ended)

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

let () =
  run "Latch"
    [
      ( "operations",
        [
          test "misuse" misuse;
          test "counts up too" up_and_down;
          test "tasks that begin others" growing;
          test "threads and domains" domains;
        ] );
      Outside.suite no_effect;
    ]
