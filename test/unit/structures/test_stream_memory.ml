(* Many items. A task that finds the front of a stream empty reverses all added items at once
   and cuts them off ([stream.ml]). Items that were taken and waiters that have left must not
   be kept. *)

open Concord
open Concord_test_support
open Check

let ints what = Alcotest.(check (list int)) what

(* Compares random operations with Stdlib's queue, near the bounds. *)
let like_a_queue capacity () =
  let random = Random.State.make [| capacity |] in
  let t = Stream.create capacity and model = Queue.create () in
  let next = ref 0 in
  let add () =
    incr next;
    let room = Queue.length model < capacity in
    if room then Queue.push !next model;
    yes "add" (Stream.try_add t !next = room)
  and take () = yes "take" (Stream.try_take t = Queue.take_opt model)
  and drain () =
    ints "drain" (List.of_seq (Queue.to_seq model)) (Stream.drain t);
    Queue.clear model
  in
  for _ = 1 to 3000 do
    let many f =
      for _ = 0 to Random.State.int random (2 * Int.min capacity 70) do
        f ()
      done
    in
    match Random.State.int random 5 with
    | 0 | 1 -> many add
    | 2 | 3 -> many take
    | _ -> drain ()
  done;
  int "length" (Queue.length model) (Stream.length t);
  yes "many" (!next > 1000)

(* Adds [n] items at a time, so that the boundary between reversed and other items is
   anywhere among them. *)
let in_chunks take () =
  let chunk n =
    let t = Stream.create n in
    let next = ref 0 in
    while !next < 300 do
      let items = List.init n (fun i -> !next + i) in
      List.iter (Stream.add t) items;
      next := !next + n;
      ints "chunk" items (take t n);
      yes "empty" (Stream.is_empty t)
    done
  in
  List.iter chunk [ 1; 2; 7; 31; 63; 64; 65; 100; 127; 128; 129; 150 ]

let one_by_one t n =
  let rec take n =
    if n = 0 then []
    else
      let v = Stream.take t in
      v :: take (n - 1)
  in
  take n

let half_and_half t n =
  let first = one_by_one t (n / 2) in
  first @ Stream.drain t

(* Tasks wait at every position of the boundary. *)
let waiting_at_the_boundaries () =
  let t = Stream.create 1 in
  for i = 0 to 200 do
    let task = Hand.start (fun () -> Stream.take t) in
    let left = Hand.start (fun () -> Stream.take t) in
    yes "cancel" (Hand.cancel left);
    Stream.add t i;
    Hand.settle ();
    int "handed over" i (Hand.result task);
    int "waiters" 0 (Stream.waiters t);
    Stream.add t i;
    let task = Hand.start (fun () -> Stream.add t (-i)) in
    let left = Hand.start (fun () -> Stream.add t 0) in
    yes "cancel" (Hand.cancel left);
    int "item" i (Stream.take t);
    Hand.settle ();
    Hand.result task;
    ints "and the waiter's item" [ -i ] (Stream.drain t);
    int "waiters" 0 (Stream.waiters t)
  done;
  Stream.close t;
  raises "closed" Stream.Closed (fun () -> Stream.take t)

let closed_at_the_boundaries () =
  for n = 60 to 70 do
    for taken = 60 to n do
      let t = Stream.create 100 in
      let items = List.init n Fun.id in
      List.iter (Stream.add t) items;
      let first = one_by_one t taken in
      Stream.close t;
      ints "all" items (first @ Stream.drain t);
      raises "closed" Stream.Closed (fun () -> Stream.take t)
    done
  done

(* --- Memory --------------------------------------------------------------- *)

let bulk create wait () =
  let t = create () in
  let before = words t in
  for _ = 1 to 10_000 do
    yes "cancel" (Hand.cancel (wait t));
    Hand.settle ()
  done;
  int "waiters" 0 (Stream.waiters t);
  int "one by one: words" before (words t);
  let tasks = List.init 10_000 (fun _ -> wait t) in
  int "waiters" 10_000 (Stream.waiters t);
  List.iter (fun task -> yes "cancel" (Hand.cancel task)) tasks;
  Hand.settle ();
  int "waiters" 0 (Stream.waiters t);
  int "all at once: words" before (words t);
  (* One waiter stays, at the front. *)
  let task = wait t in
  let tasks = List.init 10_000 (fun _ -> wait t) in
  List.iter (fun task -> yes "cancel" (Hand.cancel task)) tasks;
  Hand.settle ();
  int "waiters" 1 (Stream.waiters t);
  yes "with one waiter: words" (words t < before + 1000);
  ignore (Hand.cancel task : bool);
  Hand.settle ()

let full () =
  let t = Stream.create 1 in
  Stream.add t 0;
  t

let on f t = Hand.start (fun () -> f t)
let take t = ignore (Stream.take t : int)
let add t = Stream.add t 1
let take_evt t = ignore (Event.sync (Stream.take_evt t) : int)
let add_evt t = Event.sync (Stream.add_evt t 1)

(* Counts the items of [f] that are alive while [t] is alive. *)
let kept t f =
  let weak = Weak.create 100 in
  let[@inline never] item i =
    let v = ref i in
    Weak.set weak i (Some v);
    v
  in
  f t item;
  Gc.full_major ();
  let alive = ref 0 in
  for i = 0 to 99 do
    if Weak.check weak i then incr alive
  done;
  (* This use keeps [t] alive until here. *)
  ignore (Stream.length t : int);
  !alive

let taken_are_not_kept () =
  let drop v = ignore (Sys.opaque_identity v : int ref) in
  let take t = drop (Stream.take t) in
  let check what expected f = int what expected (kept (Stream.create 100) f) in
  let add_all t item =
    for i = 0 to 99 do
      Stream.add t (item i)
    done
  in
  check "items that are there are kept" 100 add_all;
  check "taken" 0 (fun t item ->
      add_all t item;
      for _ = 0 to 99 do
        take t
      done);
  check "all but three are taken" 3 (fun t item ->
      add_all t item;
      for _ = 0 to 96 do
        take t
      done);
  check "taken at once" 0 (fun t item ->
      add_all t item;
      List.iter drop (Stream.drain t));
  check "one" 0 (fun t item ->
      Stream.add t (item 0);
      take t);
  check "closed" 0 (fun t item ->
      add_all t item;
      Stream.close t;
      take t;
      List.iter drop (Stream.drain t));
  check "polled" 0 (fun t item ->
      Stream.add t (item 0);
      Option.iter drop (Event.poll (Stream.take_evt t)));
  check "handed over" 0 (fun t item ->
      let task = Hand.start (fun () -> take t) in
      Stream.add t (item 0);
      Hand.settle ();
      Hand.result task);
  check "never added" 0 (fun t item ->
      let full = Stream.create 1 in
      Stream.add full (item 0);
      let task = Hand.start (fun () -> Stream.add full (item 1)) in
      yes "cancel" (Hand.cancel task);
      Hand.settle ();
      take full;
      (* [t] is the stream that is checked in the end. *)
      Stream.add t (ref 0))

(* Each item can be collected as soon as it was taken, although it was reversed together
   with items that are still there. *)
let each_is_not_kept () =
  let n = 50 in
  let t = Stream.create max_int and items = Weak.create n in
  for i = 0 to n - 1 do
    let item = ref i in
    Weak.set items i (Some item);
    Stream.add t item
  done;
  for taken = 1 to n do
    ignore (Sys.opaque_identity (Stream.take t) : int ref);
    Gc.full_major ();
    for i = 0 to n - 1 do
      Alcotest.(check bool)
        (Printf.sprintf "item %d, with %d taken" i taken)
        (i >= taken) (Weak.check items i)
    done
  done

(* A node in the old generation keeps everything that it refers to alive, even if it is
   garbage itself. If it referred to later nodes, all of these would be promoted too. *)
let nodes_do_not_become_old step () =
  let t = Stream.create 100 in
  step t;
  Gc.minor ();
  let before = (Gc.quick_stat ()).promoted_words in
  for _ = 1 to 200 do
    for _ = 1 to 10 do
      step t
    done;
    Gc.minor ()
  done;
  let promoted = (Gc.quick_stat ()).promoted_words -. before in
  (* If all 200,000 items were promoted, these would be more than a million words. *)
  if promoted > 300_000. then Alcotest.failf "%.0f words" promoted

let hundred t =
  for i = 1 to 100 do
    Stream.add t i
  done

let step_one_by_one t =
  for i = 1 to 100 do
    Stream.add t i;
    ignore (Stream.take t : int)
  done

let step_all t =
  hundred t;
  ignore (Stream.drain t : int list)

let () =
  run "Stream: many items, and memory"
    [
      ( "items",
        List.map
          (fun n ->
            test (Printf.sprintf "like a queue, capacity %d" n) (like_a_queue n))
          [ 1; 2; 64; 200; max_int ]
        @ [
            test "in chunks, one by one" (in_chunks one_by_one);
            test "in chunks, by drain" (in_chunks (fun t _ -> Stream.drain t));
            test "in chunks, by both" (in_chunks half_and_half);
            test "waiters at the boundaries" waiting_at_the_boundaries;
            test "closed at the boundaries" closed_at_the_boundaries;
          ] );
      ( "memory",
        [
          test "10,000 cancelled takes"
            (bulk (fun () -> Stream.create 1) (on take));
          test "10,000 cancelled adds" (bulk full (on add));
          test "10,000 cancelled events to take"
            (bulk (fun () -> Stream.create 1) (on take_evt));
          test "10,000 cancelled events to add" (bulk full (on add_evt));
          test "items that were taken are not kept" taken_are_not_kept;
          test "nodes do not become old"
            (nodes_do_not_become_old step_one_by_one);
          test "nodes do not become old, by drain"
            (nodes_do_not_become_old step_all);
          test "a taken item is not kept, while others are there"
            each_is_not_kept;
        ] );
    ]
