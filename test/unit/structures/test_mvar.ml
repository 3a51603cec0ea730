open Concord
open Concord_test_support
open Check

exception Boom

let[@inline never] culprit () = if true then raise Boom
let waiting t n = int "waiters" n (Mvar.waiters t)
let content t = Mvar.take_available t
let taker t = Hand.start (fun () -> Mvar.take t)
let reader t = Hand.start (fun () -> Mvar.read t)
let swapper t v = Hand.start (fun () -> Mvar.swap t v)
let putter t v = Hand.start (fun () -> Mvar.put t v)
let option what = Alcotest.(check (option int)) what

let cancel task =
  yes "cancel" (Hand.cancel task);
  Hand.settle ();
  raises "the cancelled task" Hand.Cancelled (fun () -> Hand.result task)

let without_waiting () =
  let t = Mvar.create_empty () in
  yes "empty" (Mvar.is_empty t);
  option "nothing" None (content t);
  yes "put into the empty box" (Mvar.try_put t 1);
  no "put into the full box" (Mvar.try_put t 2);
  no "full" (Mvar.is_empty t);
  int "read" 1 (Mvar.read t);
  int "swap" 1 (Mvar.swap t 3);
  int "modify" 30 (Mvar.modify t (fun v -> (v + 1, 10 * v)));
  int "take" 4 (Mvar.take t);
  Mvar.put t 5;
  option "take_available" (Some 5) (content t);
  option "create" (Some 6) (content (Mvar.create 6))

let takers_in_line () =
  let t = Mvar.create_empty () in
  let tasks = List.init 3 (fun _ -> taker t) in
  waiting t 3;
  List.iter (fun v -> yes "handed over" (Mvar.try_put t v)) [ 1; 2; 3 ];
  waiting t 0;
  yes "the box stays empty" (Mvar.is_empty t);
  Hand.settle ();
  Alcotest.(check (list int)) "order" [ 1; 2; 3 ] (List.map Hand.result tasks)

let putters_in_line () =
  let t = Mvar.create 0 in
  let tasks = List.map (putter t) [ 1; 2; 3 ] in
  waiting t 3;
  int "take" 0 (Mvar.take t);
  no "a newcomer does not overtake" (Mvar.try_put t 9);
  waiting t 2;
  (* One after the other: a list of applications has no order. *)
  int "take" 1 (Mvar.take t);
  int "take" 2 (Mvar.take t);
  int "take" 3 (Mvar.take t);
  Hand.settle ();
  List.iter Hand.result tasks;
  yes "empty" (Mvar.is_empty t)

let readers_and_takers () =
  let t = Mvar.create_empty () in
  let r1 = reader t in
  let r2 = reader t in
  let taker = taker t in
  let r3 = reader t in
  Mvar.put t 1;
  Hand.settle ();
  int "first reader" 1 (Hand.result r1);
  int "second reader" 1 (Hand.result r2);
  int "taker" 1 (Hand.result taker);
  yes "the reader behind the taker waits" (Hand.waits r3);
  waiting t 1;
  Mvar.put t 2;
  Hand.settle ();
  int "third reader" 2 (Hand.result r3);
  option "a read leaves the value" (Some 2) (content t)

let between_look_and_registration () =
  let t = Mvar.create_empty () in
  let put () = Mvar.put t 1 in
  let task = Hand.start ~before_block:put (fun () -> Mvar.take t) in
  int "taken" 1 (Hand.result task);
  yes "empty" (Mvar.is_empty t);
  let t = Mvar.create 1 in
  let take () = ignore (Mvar.take t : int) in
  Hand.result (Hand.start ~before_block:take (fun () -> Mvar.put t 2));
  option "put" (Some 2) (content t)

let swap () =
  let t = Mvar.create 1 in
  let other = putter t 9 in
  int "old" 1 (Mvar.swap t 2);
  yes "no put comes between" (Hand.waits other);
  int "new" 2 (Mvar.take t);
  option "then the putter" (Some 9) (content t);
  let task = swapper t 4 in
  let next = taker t in
  Mvar.put t 3;
  Hand.settle ();
  int "swapped" 3 (Hand.result task);
  int "handed on" 4 (Hand.result next)

let modify_holds () =
  let t = Mvar.create 1 and gate = Promise.create () in
  let task =
    Hand.start (fun () ->
        Mvar.modify t (fun v ->
            Promise.await gate;
            (v + 1, "done")))
  in
  let take = taker t in
  let put = putter t 9 in
  waiting t 2;
  yes "empty for those who try" (Mvar.is_empty t);
  no "try_put" (Mvar.try_put t 8);
  option "take_available" None (content t);
  Promise.fill gate ();
  Hand.settle ();
  Alcotest.(check string) "result" "done" (Hand.result task);
  int "the taker" 2 (Hand.result take);
  Hand.result put;
  option "the putter" (Some 9) (content t)

let modify_raises () =
  let t = Mvar.create 1 in
  raises_at "culprit" (fun () ->
      Mvar.modify t (fun _ ->
          culprit ();
          (2, ())));
  option "the old value" (Some 1) (content t);
  (* The same for one that waited. *)
  let task =
    Hand.start (fun () ->
        Mvar.modify t (fun _ ->
            culprit ();
            (2, ())))
  in
  Mvar.put t 3;
  Hand.settle ();
  raises_at "culprit" (fun () -> Hand.result task);
  option "the old value" (Some 3) (content t)

let modify_cancelled () =
  let t = Mvar.create 1 and gate = Promise.create () in
  let f _ =
    Promise.await gate;
    (2, ())
  in
  let task = Hand.start (fun () -> Mvar.modify t f) in
  let next = taker t in
  cancel task;
  int "the old value is handed on" 1 (Hand.result next)

let cancelled_taker () =
  let t = Mvar.create_empty () in
  let a = taker t in
  let b = taker t in
  let c = taker t in
  cancel b;
  waiting t 2;
  List.iter (Mvar.put t) [ 1; 2; 3 ];
  Hand.settle ();
  Alcotest.(check (list int)) "turns" [ 1; 2 ] (List.map Hand.result [ a; c ]);
  option "the third value" (Some 3) (content t)

let cancelled_putter () =
  let t = Mvar.create 0 in
  let _a = putter t 1 in
  let b = putter t 2 in
  let _c = putter t 3 in
  cancel b;
  waiting t 2;
  int "stored" 0 (Mvar.take t);
  int "first" 1 (Mvar.take t);
  int "third" 3 (Mvar.take t);
  yes "empty" (Mvar.is_empty t)

(* Cancelled, but it had no turn yet to withdraw: its resumer says [false]. *)
let doomed_waiter make =
  let t = Mvar.create_empty () in
  let doomed = make t in
  yes "cancel" (Hand.cancel doomed);
  Mvar.put t 1;
  option "the value stays" (Some 1) (content t);
  Hand.settle ();
  waiting t 0;
  let doomed = make t in
  let next = taker t in
  yes "cancel" (Hand.cancel doomed);
  Mvar.put t 2;
  Hand.settle ();
  int "the value goes to the next" 2 (Hand.result next);
  waiting t 0

let doomed_putter () =
  let t = Mvar.create 0 in
  let doomed = putter t 1 in
  let _next = putter t 2 in
  yes "cancel" (Hand.cancel doomed);
  int "the stored value" 0 (Mvar.take t);
  int "the next putter's" 2 (Mvar.take t);
  yes "empty" (Mvar.is_empty t);
  Hand.settle ();
  waiting t 0

let resumed_then_cancelled () =
  let t = Mvar.create_empty () in
  let task = taker t in
  Mvar.put t 1;
  no "too late for the taker" (Hand.cancel task);
  Hand.settle ();
  int "it has the value" 1 (Hand.result task);
  Mvar.put t 2;
  let task = putter t 3 in
  int "take" 2 (Mvar.take t);
  no "too late for the putter" (Hand.cancel task);
  Hand.settle ();
  Hand.result task;
  option "its value is in the box" (Some 3) (content t);
  let task = swapper t 5 in
  Mvar.put t 4;
  no "too late for the swapper" (Hand.cancel task);
  Hand.settle ();
  int "it has swapped" 4 (Hand.result task);
  option "both halves" (Some 5) (content t)

let bulk create wait =
  let t = create () in
  let before = words t in
  for _ = 1 to 10_000 do
    ignore (Hand.cancel (wait t));
    Hand.settle ()
  done;
  waiting t 0;
  int "one by one: words" before (words t);
  let tasks = List.init 10_000 (fun _ -> wait t) in
  waiting t 10_000;
  List.iter (fun task -> ignore (Hand.cancel task)) tasks;
  Hand.settle ();
  waiting t 0;
  int "all at once: words" before (words t)

(* A withdrawn waiter stays in the line for a while, and is passed over. *)
let count_after_passing_over () =
  let t = Mvar.create_empty () in
  let first = taker t in
  let tasks = List.init 3 (fun _ -> taker t) in
  cancel first;
  waiting t 3;
  Mvar.put t 1;
  waiting t 2;
  Hand.settle ();
  Mvar.put t 2;
  waiting t 1;
  (* The same if it is passed over first, and withdraws later. *)
  let doomed = taker t in
  let _last = List.init 2 (fun _ -> taker t) in
  yes "cancel" (Hand.cancel doomed);
  Mvar.put t 3;
  Mvar.put t 4;
  Hand.settle ();
  waiting t 1;
  Mvar.put t 5;
  waiting t 0;
  Hand.settle ();
  Alcotest.(check (list int)) "in turn" [ 1; 2; 3 ] (List.map Hand.result tasks)

let cancelled_while_held () =
  let t = Mvar.create 1 and gate = Promise.create () in
  let f v =
    Promise.await gate;
    (v, ())
  in
  let holder = Hand.start (fun () -> Mvar.modify t f) in
  let before = words t in
  let takers = List.init 1000 (fun _ -> taker t) in
  let putters = List.init 1000 (fun _ -> putter t 2) in
  waiting t 2000;
  List.iter (fun task -> ignore (Hand.cancel task)) takers;
  List.iter (fun task -> ignore (Hand.cancel task)) putters;
  Hand.settle ();
  waiting t 0;
  int "words" before (words t);
  Promise.fill gate ();
  Hand.settle ();
  Hand.result holder;
  option "the value" (Some 1) (content t)

let events () =
  let t = Mvar.create_empty () in
  let take = Mvar.take_evt t and read = Mvar.read_evt t in
  yes "nothing to take or read"
    (Event.poll take = None && Event.poll read = None);
  yes "put" (Event.poll (Mvar.put_evt t 1) = Some ());
  yes "full" (Event.poll (Mvar.put_evt t 2) = None);
  yes "read, then take" (Event.poll read = Some 1 && Event.poll take = Some 1);
  let a = Hand.start (fun () -> Event.sync take) in
  let b = Hand.start (fun () -> Event.sync take) in
  cancel a;
  waiting t 1;
  Event.sync (Mvar.put_evt t 3);
  Hand.settle ();
  int "in turn" 3 (Hand.result b);
  Mvar.put t 4;
  let c = Hand.start (fun () -> Event.sync (Mvar.put_evt t 5)) in
  let d = Hand.start (fun () -> Event.sync (Mvar.put_evt t 6)) in
  cancel c;
  int "stored" 4 (Mvar.take t);
  Hand.settle ();
  Hand.result d;
  option "in turn" (Some 6) (content t)

let between_domains () =
  let n = 2000 in
  let t = Mvar.create_empty () in
  let producer () =
    for i = 1 to n do
      Mvar.put t i
    done
  in
  let domain = Domain.spawn (fun () -> producer ()) in
  let sum = ref 0 in
  beside producer (fun () ->
      for _ = 1 to 2 * n do
        sum := !sum + Mvar.take t
      done);
  Domain.join domain;
  int "every value arrives once" (n * (n + 1)) !sum;
  yes "empty" (Mvar.is_empty t)

let empty = Mvar.create_empty
let full () = Mvar.create 0

let () =
  run "Mvar"
    [
      ( "operations",
        [
          test "those that need not wait" without_waiting;
          test "takers are served in order, newcomers last" takers_in_line;
          test "putters are served in order, newcomers last" putters_in_line;
          test "readers and takers share one line" readers_and_takers;
          test "the box changes before the registration"
            between_look_and_registration;
          test "nothing comes between the halves of swap" swap;
          test "modify holds the box" modify_holds;
          test "modify restores the value if its function raises" modify_raises;
          test "events are the operations" events;
          test "threads and domains exchange 4,000 values" between_domains;
        ] );
      ( "cancellation",
        [
          test "a cancelled taker is withdrawn" cancelled_taker;
          test "a cancelled putter is withdrawn" cancelled_putter;
          test "modify cancelled in its function restores" modify_cancelled;
          test "put meets a cancelled taker: the value stays" (fun () ->
              doomed_waiter taker);
          test "put meets a cancelled reader: the value stays" (fun () ->
              doomed_waiter reader);
          test "put meets a cancelled swapper: the value stays" (fun () ->
              doomed_waiter (fun t -> swapper t 7));
          test "take meets a cancelled putter: both values right" doomed_putter;
          test "resumed, then cancelled: it has happened" resumed_then_cancelled;
          test "10,000 cancelled takes leave no memory" (fun () ->
              bulk empty taker);
          test "10,000 cancelled reads leave no memory" (fun () ->
              bulk empty reader);
          test "10,000 cancelled swaps leave no memory" (fun () ->
              bulk empty (fun t -> swapper t 7));
          test "10,000 cancelled puts leave no memory" (fun () ->
              bulk full (fun t -> putter t 7));
          test "10,000 cancelled events leave no memory" (fun () ->
              bulk empty (fun t ->
                  Hand.start (fun () -> Event.sync (Mvar.take_evt t)));
              bulk full (fun t ->
                  Hand.start (fun () -> Event.sync (Mvar.put_evt t 7))));
          test "waiters counts those that wait" count_after_passing_over;
          test "cancelled while the box is held" cancelled_while_held;
        ] );
    ]
