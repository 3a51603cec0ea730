open Concord
open Concord_test_support
open Check

(* At the end, it returns [None], where [try_take] raises. *)
let nonblocking () =
  let t = Stream.create 2 in
  let takes what expected =
    Alcotest.(check (option int)) what expected (Stream.take_nonblocking t)
  in
  takes "empty" None;
  yes "empty" (Stream.is_empty t);
  Stream.add t 1;
  no "an item" (Stream.is_empty t);
  Stream.close t;
  takes "the item" (Some 1);
  takes "the end" None

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
    let t = Stream.create capacity in
    int "capacity" capacity (Stream.capacity t);
    let added = ref 0 and taken = ref 0 in
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

let () =
  run "Stream"
    [
      ( "operations",
        [
          test "take_nonblocking" nonblocking;
          test "a capacity below 1" invalid;
          test "the capacity is exact" exact_capacity;
        ] );
    ]
