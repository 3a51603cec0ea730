open Concord
open Concord.Tools
open Concord_test_support
open Check

let select events = Hand.start (fun () -> Event.select events)
let takes boxes = List.map Mvar.take_evt boxes
let empty n = List.init n (fun _ -> Mvar.create_empty ())
let idle boxes = List.iter (fun t -> int "waiters" 0 (Mvar.waiters t)) boxes
let contents = List.map Mvar.try_take
let options what = Alcotest.(check (list (option int))) what

let cancelled task =
  Hand.settle ();
  raises "the cancelled task" Hand.Cancelled (fun () -> Hand.result task)

(* --- One alternative ------------------------------------------------------ *)

let each_alternative () =
  for i = 0 to 3 do
    let boxes = empty 4 in
    let task = select (takes boxes) in
    List.iter (fun t -> int "it waits" 1 (Mvar.waiters t)) boxes;
    Mvar.put (List.nth boxes i) i;
    Hand.settle ();
    int "value" i (Hand.result task);
    idle boxes;
    options "nothing is left" (List.map (fun _ -> None) boxes) (contents boxes)
  done

(* All are ready at once, so no task ever waits, and the others keep their values. *)
let all_ready () =
  let boxes = List.init 4 Mvar.create in
  let chosen = Event.select (takes boxes) in
  let left i = if i = chosen then None else Some i in
  options "the others" (List.init 4 left) (contents boxes)

let two_before_it_runs () =
  let a = Mvar.create_empty () and b = Mvar.create_empty () in
  let task = select (takes [ a; b ]) in
  let next = Hand.start (fun () -> Mvar.take b) in
  Mvar.put a 1;
  Mvar.put b 2;
  no "too late" (Hand.cancel task);
  Hand.settle ();
  int "the first" 1 (Hand.result task);
  int "the second goes to the next one" 2 (Hand.result next);
  let task = select (takes [ a; b ]) in
  List.iter2 Mvar.put [ b; a ] [ 3; 4 ];
  Hand.settle ();
  int "the first" 3 (Hand.result task);
  options "the second stays" [ Some 4; None ] (contents [ a; b ]);
  idle [ a; b ]

let losers_give_nothing () =
  let boxes = List.init 3 Mvar.create and gate = Mvar.create_empty () in
  let puts = List.map (fun t -> Mvar.put_evt t 9) boxes in
  let task = select (Mvar.take_evt gate :: puts) in
  Mvar.put gate ();
  options "the values that were there" (List.init 3 Option.some)
    (contents boxes);
  Hand.settle ();
  Hand.result task;
  idle boxes;
  options "no more" [ None; None; None ] (contents boxes)

let in_turn () =
  let a = Mvar.create_empty () and b = Mvar.create_empty () in
  let first = Hand.start (fun () -> Mvar.take a) in
  let choice = select (takes [ a; b ]) in
  let last = Hand.start (fun () -> Mvar.take a) in
  List.iter (Mvar.put a) [ 1; 2; 3 ];
  Hand.settle ();
  let results = List.map Hand.result [ first; choice; last ] in
  Alcotest.(check (list int)) "order" [ 1; 2; 3 ] results

let one_structure_twice () =
  let t = Mvar.create_empty () in
  let twice = [ Mvar.take_evt t; Mvar.take_evt t ] in
  let task = select twice in
  int "two waiters" 2 (Mvar.waiters t);
  List.iter (Mvar.put t) [ 1; 2 ];
  Hand.settle ();
  int "one was performed" 1 (Hand.result task);
  int "waiters" 0 (Mvar.waiters t);
  options "one is left" [ Some 2 ] (contents [ t ]);
  let task = select twice in
  yes "cancel" (Hand.cancel task);
  cancelled task;
  int "waiters" 0 (Mvar.waiters t);
  (* The choice both puts and takes. It must not meet itself, so it is ready only if another
     task comes. *)
  let both = [ Mvar.take_evt t; Event.wrap (Mvar.put_evt t 5) (fun () -> 0) ] in
  int "there was room" 0 (Event.select both);
  int "there was a value" 5 (Event.select both)

(* --- Fairness ------------------------------------------------------------- *)

(* The statistic has [n - 1] degrees of freedom. For up to 4 alternatives it exceeds 60 once
   in 10^12 runs. *)
let unbiased what n choose =
  let rounds = 40_000 in
  let counts = Array.make n 0 in
  for _ = 1 to rounds do
    let i = choose () in
    counts.(i) <- counts.(i) + 1
  done;
  let expected = float rounds /. float n in
  let add sum count = sum +. (((float count -. expected) ** 2.) /. expected) in
  let statistic = Array.fold_left add 0. counts in
  if statistic > 60. then
    Alcotest.failf "%s: %s" what
      (String.concat " " (List.map string_of_int (Array.to_list counts)))

let number i event = Event.wrap event (fun _ -> i)

let no_bias () =
  let full = Array.init 4 (fun _ -> Mvar.create ()) in
  let empty = Mvar.read_evt (Mvar.create_empty ()) in
  let read i = number i (Mvar.read_evt full.(i)) in
  let four = List.init 4 read in
  let two = [ read 0; read 1; number 2 empty; number 3 empty ] in
  unbiased "4 of 4" 4 (fun () -> Event.select four);
  unbiased "2 of 4" 2 (fun () -> Event.select two);
  unbiased "the last 2" 2 (fun () -> Event.select (List.rev two));
  unbiased "poll" 2 (fun () -> Option.get (Event.poll (Event.choose two)));
  let nested = Event.[ choose [ read 0; choose [ read 1; read 2 ] ]; read 3 ] in
  unbiased "in a nest" 4 (fun () -> Event.select nested);
  let three = List.init 3 Event.always in
  unbiased "always" 3 (fun () -> Event.select three)

(* The same if all become ready while the choice enlists. *)
let no_bias_late () =
  let choose () =
    let boxes = List.init 3 (fun _ -> Mvar.create_empty ()) in
    let before_block () = List.iter (fun t -> Mvar.put t ()) boxes in
    let events = List.mapi (fun i t -> number i (Mvar.take_evt t)) boxes in
    Hand.result (Hand.start ~before_block (fun () -> Event.select events))
  in
  unbiased "late" 3 choose

(* --- While it enlists ----------------------------------------------------- *)

(* An alternative that calls [hook] when the choice enlists it, and then waits. *)
let hooked hook =
  let enlist () _ =
    hook ();
    true
  in
  let withdraw () _ = () and attempt () () = None in
  Event.make
    {
      Structure_kit.default with
      name = "test";
      how = By_hand { attempt; enlist; withdraw };
    }
    () ()

(* Alternatives are enlisted in random order, so [hook] comes first, last, or in between. *)
let while_enlisting run =
  for _ = 1 to 200 do
    run ()
  done

let a_value_comes () =
  while_enlisting @@ fun () ->
  let boxes = empty 3 in
  let hook () = Mvar.put (List.nth boxes 1) 7 in
  let task = select (hooked hook :: takes boxes) in
  Hand.settle ();
  int "value" 7 (Hand.result task);
  idle boxes;
  options "taken once" [ None; None; None ] (contents boxes)

let two_values_come () =
  while_enlisting @@ fun () ->
  let boxes = empty 2 in
  let hook () = List.iteri (fun i t -> Mvar.put t i) boxes in
  let task = select (hooked hook :: takes boxes) in
  Hand.settle ();
  let chosen = Hand.result task in
  idle boxes;
  let left i = if i = chosen then None else Some i in
  options "the other stays" (List.init 2 left) (contents boxes)

let it_is_cancelled value () =
  while_enlisting @@ fun () ->
  let boxes = empty 3 and gate = Promise.create () in
  let self = ref None in
  let hook () =
    yes "cancel" (Hand.cancel (Option.get !self));
    Option.iter (Mvar.put (List.hd boxes)) value
  in
  let task =
    Hand.start (fun () ->
        Promise.await gate;
        Event.select (hooked hook :: takes boxes))
  in
  self := Some task;
  Promise.fill gate ();
  (* If an alternative is ready although the task is cancelled, it may or may not be
     performed. *)
  Hand.settle ();
  match Hand.result task with
  | v ->
      options "value" [ value ] [ Some v ];
      options "taken" [ None; None; None ] (contents boxes)
  | exception Hand.Cancelled ->
      idle boxes;
      options "not taken" [ value; None; None ] (contents boxes)

let enlist_raises () =
  while_enlisting @@ fun () ->
  let boxes = empty 3 in
  let task = select (hooked (fun () -> raise Exit) :: takes boxes) in
  raises "select" Exit (fun () -> Hand.result task);
  idle boxes

let closed_while_enlisting () =
  while_enlisting @@ fun () ->
  let t = Stream.create 1 and box = Mvar.create_empty () in
  let hook () = Stream.close t in
  let task = select [ hooked hook; Stream.take_evt t; Mvar.take_evt box ] in
  Hand.settle ();
  raises "select" Stream.Closed (fun () -> Hand.result task);
  int "waiters" 0 (Stream.waiters t + Mvar.waiters box)

let cancelled_between give =
  let boxes = empty 3 in
  let task = select (takes boxes) in
  yes "cancel" (Hand.cancel task);
  if give then List.iter (fun t -> Mvar.put t 1) boxes;
  cancelled task;
  idle boxes;
  let left = if give then Some 1 else None in
  options "all is left" [ left; left; left ] (contents boxes)

let no_memory () =
  let boxes = empty 4 in
  let limit = words boxes + 20 in
  let bounded what = yes what (words boxes <= limit) in
  for _ = 1 to 10_000 do
    yes "cancel" (Hand.cancel (select (takes boxes)));
    Hand.settle ()
  done;
  idle boxes;
  bounded "cancelled one by one";
  let tasks = List.init 10_000 (fun _ -> select (takes boxes)) in
  List.iter (fun task -> yes "cancel" (Hand.cancel task)) tasks;
  Hand.settle ();
  idle boxes;
  bounded "cancelled at once";
  let first = List.hd boxes in
  for i = 1 to 10_000 do
    let task = select (takes boxes) in
    Mvar.put first i;
    Hand.settle ();
    int "value" i (Hand.result task)
  done;
  idle boxes;
  bounded "performed"

let () =
  run "Event.select"
    [
      ( "one",
        [
          test "any alternative; the others are withdrawn" each_alternative;
          test "all are ready: the others keep their values" all_ready;
          test "two become ready before the task runs" two_before_it_runs;
          test "alternatives that lose give nothing" losers_give_nothing;
          test "a choice takes its turn in each queue" in_turn;
          test "one structure twice" one_structure_twice;
        ] );
      ( "no bias",
        [
          test "among ready alternatives" no_bias;
          test "among alternatives that become ready late" no_bias_late;
        ] );
      ( "while it enlists",
        [
          test "a value comes" a_value_comes;
          test "two values come" two_values_come;
          test "it is cancelled" (it_is_cancelled None);
          test "it is cancelled, and a value comes" (it_is_cancelled (Some 7));
          test "an alternative raises: the others are withdrawn" enlist_raises;
          test "an alternative is closed" closed_while_enlisting;
        ] );
      ( "cancelled",
        [
          test "all are withdrawn" (fun () -> cancelled_between false);
          test "later values are not taken" (fun () -> cancelled_between true);
          test "10,000 choices leave no memory" no_memory;
        ] );
    ]
