open Concord
open Concord_test_support
open Check

let options what = Alcotest.(check (list (option int))) what
let ints what = Alcotest.(check (list int)) what
let waiting t n = int "waiters" n (Stream.waiters t)

let adder ?(say = ignore) t v =
  Hand.start (fun () ->
      match Stream.add t v with
      | () -> say (Printf.sprintf "%d was added" v)
      | exception Stream.Closed -> say (Printf.sprintf "%d was refused" v))

let of_list capacity items =
  let t = Stream.create capacity in
  List.iter (Stream.add t) items;
  t

(* --- Without waiting ------------------------------------------------------ *)

let operations () =
  let t = Stream.create 2 in
  int "capacity" 2 (Stream.capacity t);
  yes "empty" (Stream.is_empty t);
  options "nothing" [ None; None ]
    [ Stream.try_take t; Stream.take_nonblocking t ];
  ints "nothing" [] (Stream.drain t);
  Stream.add t 1;
  yes "there is room" (Stream.try_add t 2);
  no "it is full" (Stream.try_add t 3);
  int "length" 2 (Stream.length t);
  no "not empty" (Stream.is_empty t);
  int "first" 1 (Stream.take t);
  yes "there is room again" (Stream.try_add t 4);
  ints "all" [ 2; 4 ] (Stream.drain t);
  int "length" 0 (Stream.length t);
  Stream.add t 5;
  options "one" [ Some 5; None ]
    (let first = Stream.try_take t in
     [ first; Stream.take_nonblocking t ]);
  no "open" (Stream.is_closed t)

let invalid () =
  let misuse n =
    Invalid_argument
      (Printf.sprintf
         "Stream.create: the capacity is %d, but must be at least 1 (Channel \
          passes items on without a buffer)"
         n)
  in
  List.iter
    (fun n -> raises "create" (misuse n) (fun () -> Stream.create n))
    [ 0; -1; min_int ]

let exact_capacity () =
  let fill capacity =
    let t = Stream.create capacity and added = ref 0 and taken = ref 0 in
    (* Each round leaves an item, so the two ends move against each other. *)
    let left = Int.min 1 (capacity - 1) in
    for _ = 1 to 3 do
      while !added - !taken < capacity do
        int "length" (!added - !taken) (Stream.length t);
        incr added;
        yes "room" (Stream.try_add t !added)
      done;
      no "full" (Stream.try_add t 0);
      int "length" capacity (Stream.length t);
      while !added - !taken > left do
        incr taken;
        int "first" !taken (Stream.take t)
      done
    done
  in
  List.iter fill [ 1; 2; 3; 63; 64; 65; 100; 129 ];
  yes "without a bound" (Stream.try_add (Stream.create max_int) 1)

(* --- Waiting -------------------------------------------------------------- *)

let adders_in_order () =
  traced [ "all wait"; "3 was added"; "4 was added"; "5 was added" ]
  @@ fun say ->
  let t = of_list 2 [ 1; 2 ] in
  let tasks = List.map (adder ~say t) [ 3; 4; 5 ] in
  waiting t 3;
  say "all wait";
  int "first" 1 (Stream.take t);
  (* The item is there before the task that adds 3 runs. *)
  int "its item is there" 2 (Stream.length t);
  waiting t 2;
  no "a newcomer does not overtake" (Stream.try_add t 9);
  ints "in order" [ 2; 3 ] (Stream.drain t);
  ints "then the others" [ 4; 5 ] (Stream.drain t);
  waiting t 0;
  Hand.settle ();
  List.iter Hand.result tasks

(* There is room for several items at once. *)
let all_of_a_full_stream () =
  traced [ "4 was added"; "5 was added"; "6 was added"; "7 was added" ]
  @@ fun say ->
  let t = of_list 3 [ 1; 2; 3 ] in
  let tasks = List.map (adder ~say t) [ 4; 5; 6; 7 ] in
  ints "first" [ 1; 2; 3 ] (Stream.drain t);
  int "filled again" 3 (Stream.length t);
  waiting t 1;
  ints "then" [ 4; 5; 6 ] (Stream.drain t);
  int "the last one" 1 (Stream.length t);
  yes "and room for others" (Stream.try_add t 8);
  Hand.settle ();
  List.iter Hand.result tasks;
  ints "all" [ 7; 8 ] (Stream.drain t)

let () =
  run "Stream"
    [
      ( "operations",
        [
          test "operations that need not wait" operations;
          test "a capacity below 1" invalid;
          test "the capacity is exact" exact_capacity;
        ] );
      ( "waiting",
        [
          test "adders are served in order, and as soon as there is room"
            adders_in_order;
          test "drain makes room for several" all_of_a_full_stream;
        ] );
    ]
