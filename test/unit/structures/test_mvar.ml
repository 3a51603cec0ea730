open Concord
open Concord_test_support
open Check

exception Boom

let[@inline never] culprit () = if true then raise Boom
let waiting t n = int "waiters" n (Mvar.waiters t)
let content t = Mvar.try_take t
let taker t = Hand.start (fun () -> Mvar.take t)
let reader t = Hand.start (fun () -> Mvar.read t)
let swapper t v = Hand.start (fun () -> Mvar.swap t v)
let putter t v = Hand.start (fun () -> Mvar.put t v)
let option what = Alcotest.(check (option int)) what

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
  option "try_take" (Some 5) (content t);
  option "create" (Some 6) (content (Mvar.create 6))

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
  yes "empty for tasks that only try" (Mvar.is_empty t);
  no "try_put" (Mvar.try_put t 8);
  option "try_take" None (content t);
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
  (* The same for a task that has waited. *)
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
  Hand.unwind task;
  int "the old value is handed on" 1 (Hand.result next)

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

(* These operations never wait, don't overtake waiters, and treat a held box as an empty
   one. *)
let trying () =
  let t = Mvar.create_empty () in
  option "nothing to take" None (Mvar.try_take t);
  option "nothing to read" None (Mvar.try_read t);
  Mvar.put t 1;
  let next = putter t 2 in
  option "what is there" (Some 1) (Mvar.try_read t);
  waiting t 1;
  option "and stays" (Some 1) (Mvar.try_take t);
  Hand.settle ();
  Hand.result next;
  option "what waited" (Some 2) (in_domain (fun () -> Mvar.try_read t));
  Mvar.modify t (fun v ->
      option "held: nothing to read" None (Mvar.try_read t);
      option "held: nothing to take" None (Mvar.try_take t);
      (v, ()));
  let reader = taker t in
  int "taken" 2 (Hand.result reader);
  let gone = taker t in
  Hand.unwind gone;
  option "empty" None (Mvar.try_take t);
  waiting t 0

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

let () =
  run "Mvar"
    [
      ( "operations",
        [
          test "operations that need not wait" without_waiting;
          test "readers and takers share one line" readers_and_takers;
          test "nothing comes between the halves of swap" swap;
          test "modify holds the box" modify_holds;
          test "modify restores the value if its function raises" modify_raises;
          test "modify cancelled in its function restores" modify_cancelled;
          test "cancelled while the box is held" cancelled_while_held;
          test "try_take and try_read" trying;
          test "threads and domains exchange 4,000 values" between_domains;
        ] );
    ]
