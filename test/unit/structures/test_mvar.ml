open Concord
open Concord_test_support
open Check

exception Boom

let[@inline never] culprit () = if true then raise Boom
let waiting t n = int "waiters" n (Mvar.waiters t)
let content t = Mvar.try_take t
let taker t = Hand.start (fun () -> Mvar.take t)
let putter t v = Hand.start (fun () -> Mvar.put t v)
let option what = Alcotest.(check (option int)) what

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
  option "try_read" None (Mvar.try_read t);
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
          test "modify holds the box" modify_holds;
          test "modify restores the value if its function raises" modify_raises;
          test "modify cancelled in its function restores" modify_cancelled;
          test "cancelled while the box is held" cancelled_while_held;
          test "threads and domains exchange 4,000 values" between_domains;
        ] );
    ]
