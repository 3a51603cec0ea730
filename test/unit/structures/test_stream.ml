open Concord
open Concord_test_support
open Check

let options what = Alcotest.(check (list (option int))) what
let ints what = Alcotest.(check (list int)) what
let waiting t n = int "waiters" n (Stream.waiters t)

let taker ?(say = ignore) t name =
  Hand.start (fun () ->
      match Stream.take t with
      | v -> say (Printf.sprintf "%s took %d" name v)
      | exception Stream.Closed -> say (name ^ " found the end"))

let adder ?(say = ignore) t v =
  Hand.start (fun () ->
      match Stream.add t v with
      | () -> say (Printf.sprintf "%d was added" v)
      | exception Stream.Closed -> say (Printf.sprintf "%d was refused" v))

let cancel task =
  yes "cancel" (Hand.cancel task);
  Hand.settle ();
  raises "the cancelled task" Hand.Cancelled (fun () -> Hand.result task)

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
  ints "nothing" [] (Stream.take_all t);
  Stream.add t 1;
  yes "there is room" (Stream.try_add t 2);
  no "it is full" (Stream.try_add t 3);
  int "length" 2 (Stream.length t);
  no "not empty" (Stream.is_empty t);
  int "first" 1 (Stream.take t);
  yes "there is room again" (Stream.try_add t 4);
  ints "all" [ 2; 4 ] (Stream.take_all t);
  int "length" 0 (Stream.length t);
  Stream.add t 5;
  options "one" [ Some 5; None ]
    (let first = Stream.try_take t in
     [ first; Stream.take_nonblocking t ]);
  no "open" (Stream.is_closed t)

let invalid () =
  let misuse = Invalid_argument "Stream.create: capacity < 1" in
  List.iter
    (fun n -> raises "create" misuse (fun () -> Stream.create n))
    [ 0; -1; min_int ]

let exact_capacity () =
  let fill capacity =
    let t = Stream.create capacity in
    for round = 1 to 3 do
      for i = 1 to capacity do
        int "length" (i - 1) (Stream.length t);
        yes "room" (Stream.try_add t i)
      done;
      no "full" (Stream.try_add t 0);
      int "length" capacity (Stream.length t);
      (* Not all: so that the ends move on against each other. *)
      for i = 1 to capacity - if round < 3 then 0 else 1 do
        int "first" i (Stream.take t)
      done
    done
  in
  List.iter fill [ 1; 2; 3; 63; 64; 65; 100; 129 ];
  yes "without a bound" (Stream.try_add (Stream.create max_int) 1)

let events () =
  let t = Stream.create 1 in
  let add v = Event.poll (Stream.add_evt t v)
  and take () = Event.poll (Stream.take_evt t) in
  options "nothing" [ None ] [ take () ];
  yes "room" (add 1 = Some ());
  yes "full" (add 2 = None);
  options "the item" [ Some 1 ] [ take () ];
  let task = Hand.start (fun () -> Event.sync (Stream.take_evt t)) in
  Event.sync (Stream.add_evt t 3);
  Hand.settle ();
  int "handed over" 3 (Hand.result task)

(* --- Waiting -------------------------------------------------------------- *)

let takers_in_order () =
  traced [ "added"; "a took 1"; "b took 2"; "c took 3"; "a newcomer took 4" ]
  @@ fun say ->
  let t = Stream.create 2 in
  let tasks = List.map (taker ~say t) [ "a"; "b"; "c" ] in
  waiting t 3;
  List.iter (Stream.add t) [ 1; 2; 3; 4 ];
  waiting t 0;
  int "what is not handed over" 1 (Stream.length t);
  say "added";
  Hand.settle ();
  List.iter Hand.result tasks;
  Hand.result (taker ~say t "a newcomer")

let adders_in_order () =
  traced [ "all wait"; "3 was added"; "4 was added"; "5 was added" ]
  @@ fun say ->
  let t = of_list 2 [ 1; 2 ] in
  let tasks = List.map (adder ~say t) [ 3; 4; 5 ] in
  waiting t 3;
  say "all wait";
  int "first" 1 (Stream.take t);
  (* Before the task of 3 runs. *)
  int "its item is there" 2 (Stream.length t);
  waiting t 2;
  no "a newcomer does not overtake" (Stream.try_add t 9);
  ints "in order" [ 2; 3 ] (Stream.take_all t);
  ints "then the others" [ 4; 5 ] (Stream.take_all t);
  waiting t 0;
  Hand.settle ();
  List.iter Hand.result tasks

(* A task that would overtake if its turn came before that of those who wait. *)
let newcomers_wait () =
  traced [ "2 was added"; "3 was added"; "4 was added" ] @@ fun say ->
  let t = of_list 1 [ 1 ] in
  let _first = adder ~say t 2 in
  int "room for one" 1 (Stream.take t);
  let _second = adder ~say t 3 in
  let _third = adder ~say t 4 in
  waiting t 2;
  int "2" 2 (Stream.take t);
  int "3" 3 (Stream.take t);
  Hand.settle ();
  int "4" 4 (Stream.take t)

(* Room for several at once. *)
let all_of_a_full_stream () =
  traced [ "4 was added"; "5 was added"; "6 was added"; "7 was added" ]
  @@ fun say ->
  let t = of_list 3 [ 1; 2; 3 ] in
  let tasks = List.map (adder ~say t) [ 4; 5; 6; 7 ] in
  ints "first" [ 1; 2; 3 ] (Stream.take_all t);
  int "filled again" 3 (Stream.length t);
  waiting t 1;
  ints "then" [ 4; 5; 6 ] (Stream.take_all t);
  int "the last one" 1 (Stream.length t);
  yes "and room for others" (Stream.try_add t 8);
  Hand.settle ();
  List.iter Hand.result tasks;
  ints "all" [ 7; 8 ] (Stream.take_all t)

let before_the_registration () =
  let t = Stream.create 1 in
  let before_block () = Stream.add t 1 in
  int "added meanwhile" 1
    (Hand.result (Hand.start ~before_block (fun () -> Stream.take t)));
  Stream.add t 2;
  let before_block () = int "first" 2 (Stream.take t) in
  Hand.result (Hand.start ~before_block (fun () -> Stream.add t 3));
  ints "all" [ 3 ] (Stream.take_all t);
  let before_block () = Stream.close t in
  let task = Hand.start ~before_block (fun () -> Stream.take t) in
  raises "closed meanwhile" Stream.Closed (fun () -> Hand.result task)

(* --- Cancelled ------------------------------------------------------------ *)

(* One of three waits no more: by its number, and whether it is unwound before the
   others are served. *)
let each_of_three f =
  List.iter (fun i -> List.iter (f i) [ true; false ]) [ 0; 1; 2 ]

let without i list = List.filteri (fun j _ -> j <> i) list

let cancelled_taker () =
  each_of_three @@ fun i unwound ->
  let t = Stream.create 5 in
  let tasks = List.init 3 (fun _ -> Hand.start (fun () -> Stream.take t)) in
  let cancelled = List.nth tasks i in
  if unwound then cancel cancelled else yes "cancel" (Hand.cancel cancelled);
  if unwound then waiting t 2;
  List.iter (Stream.add t) [ 1; 2; 3 ];
  Hand.settle ();
  ints "in turn" [ 1; 2 ] (List.map Hand.result (without i tasks));
  ints "the third item" [ 3 ] (Stream.take_all t);
  waiting t 0

let cancelled_adder () =
  each_of_three @@ fun i unwound ->
  let t = of_list 1 [ 0 ] in
  let items = [ 1; 2; 3 ] in
  let tasks = List.map (adder t) items in
  let cancelled = List.nth tasks i in
  if unwound then cancel cancelled else yes "cancel" (Hand.cancel cancelled);
  if unwound then waiting t 2;
  let first = Stream.take t in
  let second = Stream.take t in
  let third = Stream.take t in
  ints "without it" (0 :: without i items) [ first; second; third ];
  options "nothing else" [ None ] [ Stream.try_take t ];
  Hand.settle ();
  waiting t 0;
  List.iter Hand.result (without i tasks)

let resumed_then_cancelled () =
  let t = Stream.create 1 in
  let task = Hand.start (fun () -> Stream.take t) in
  Stream.add t 1;
  no "too late for the taker" (Hand.cancel task);
  Hand.settle ();
  int "it has the item" 1 (Hand.result task);
  Stream.add t 2;
  let task = adder t 3 in
  int "first" 2 (Stream.take t);
  no "too late for the adder" (Hand.cancel task);
  Hand.settle ();
  Hand.result task;
  ints "its item is there" [ 3 ] (Stream.take_all t)

let all_cancelled () =
  let t = of_list 1 [ 0 ] in
  let tasks = List.map (adder t) [ 1; 2; 3 ] in
  List.iter (fun task -> yes "cancel" (Hand.cancel task)) tasks;
  int "first" 0 (Stream.take t);
  yes "there is room" (Stream.try_add t 4);
  Hand.settle ();
  no "for one" (Stream.try_add t 5);
  ints "all" [ 4 ] (Stream.take_all t);
  waiting t 0

let () =
  run "Stream"
    [
      ( "operations",
        [
          test "those that need not wait" operations;
          test "a capacity below 1" invalid;
          test "the capacity is exact" exact_capacity;
          test "events are the operations" events;
        ] );
      ( "waiting",
        [
          test "takers are served in order" takers_in_order;
          test "adders are served in order, and as soon as there is room"
            adders_in_order;
          test "newcomers never overtake" newcomers_wait;
          test "take_all makes room for several" all_of_a_full_stream;
          test "the stream changes before the registration"
            before_the_registration;
        ] );
      ( "cancellation",
        [
          test "a taker: first, middle, last" cancelled_taker;
          test "an adder: first, middle, last" cancelled_adder;
          test "resumed, then cancelled: it has happened" resumed_then_cancelled;
          test "all adders cancelled: there is room" all_cancelled;
        ] );
    ]
