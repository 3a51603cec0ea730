open Concord
open Concord_test_support
open Check

let adds t v = Hand.start (fun () -> Work_queue.add t v)

let holds what expected t =
  int (what ^ ": length") (List.length expected) (Work_queue.length t);
  strings what expected (Work_queue.drain t)

let misuse () =
  raises "capacity"
    (Invalid_argument
       "Work_queue.create: the capacity is 0, but must be at least 1")
    (fun () -> Work_queue.create 0)

(* A ticket belongs to one queue. *)
let tickets () =
  let t = Work_queue.create 1 and other = Work_queue.create 1 in
  let ticket = Work_queue.add t "a" and _of_other = Work_queue.add other "b" in
  yes "withdrawn" (Work_queue.withdraw ticket);
  holds "the other one" [ "b" ] other;
  let _ = Work_queue.add t "c" in
  no "the next one stays" (Work_queue.withdraw ticket);
  holds "it is there" [ "c" ] t

(* The task's item has been added, and then the queue is closed before the task runs. *)
let closed_before_its_turn () =
  let t = Work_queue.create 1 in
  let first = Work_queue.add t "a" in
  let b = adds t "b" in
  yes "withdrawn" (Work_queue.withdraw first);
  Work_queue.close t;
  int "it is in" 1 (Work_queue.length t);
  Hand.settle ();
  yes "it is withdrawn" (Work_queue.withdraw (Hand.result b));
  raises "the end" Work_queue.Closed (fun () -> Work_queue.take t);
  yes "no more" (Work_queue.next t = None)

let events () =
  let t = Work_queue.create 1 in
  let add v = Work_queue.add_evt t v in
  let ticket = Event.sync (add 1) in
  yes "full" (Event.poll (add 2) = None);
  let box = Mvar.create_empty () in
  let choice () =
    Event.select
      [
        Event.wrap (add 2) Option.some;
        Event.wrap (Mvar.take_evt box) (fun () -> None);
      ]
  in
  let a = Hand.start choice in
  let b = Hand.start choice in
  Mvar.put box ();
  Hand.settle ();
  yes "another one is chosen" (Hand.result a = None);
  yes "withdrawn" (Work_queue.withdraw ticket);
  Hand.settle ();
  (match Hand.result b with
  | Some ticket -> yes "its item is in" (Work_queue.withdraw ticket)
  | None -> Alcotest.fail "the other one");
  int "empty" 0 (Work_queue.length t)

let collected () =
  let t = Work_queue.create 2 in
  let weak = Weak.create 1 in
  let add () =
    let v = Bytes.create 100 in
    Weak.set weak 0 (Some v);
    Work_queue.add t v
  in
  let ticket = (Sys.opaque_identity add) () in
  yes "withdrawn" (Work_queue.withdraw ticket);
  Gc.full_major ();
  no "the item is released" (Weak.check weak 0);
  no "even if its ticket is alive" (Work_queue.withdraw ticket)

(* Each item is either taken or withdrawn, once. *)
let domains () =
  let n = 3_000 and t = Work_queue.create 4 in
  let taken = Atomic.make 0 and withdrawn = Atomic.make 0 in
  let produce () =
    for i = 1 to n do
      let ticket = Work_queue.add t i in
      if Random.int 4 = 0 then Tasks.yield ();
      if i mod 2 = 0 && Work_queue.withdraw ticket then
        ignore (Atomic.fetch_and_add withdrawn i : int)
    done
  and consume () =
    Work_queue.iter (fun i -> ignore (Atomic.fetch_and_add taken i : int)) t
  in
  let producers () =
    Concord_fifo.run (fun () ->
        ignore (Tasks.all [ produce; produce ] : unit list))
  in
  let consumers = [ domain consume; thread consume ] in
  let joins = [ domain producers; thread produce ] in
  List.iter (fun join -> join ()) joins;
  Work_queue.close t;
  List.iter (fun join -> join ()) consumers;
  int "all" (3 * n * (n + 1) / 2) (Atomic.get taken + Atomic.get withdrawn);
  int "no task waits" 0 (Work_queue.waiters t)

let no_effect () =
  let t = Work_queue.create 2 in
  let ticket = Work_queue.add t 1 in
  yes "try" (Work_queue.try_add t 2 <> None);
  yes "withdraw" (Work_queue.withdraw ticket);
  int "take" 2 (Work_queue.take t);
  yes "poll" (Event.poll (Work_queue.take_evt t) = None);
  Work_queue.close t

let () =
  run "Work_queue"
    [
      ( "operations",
        [
          test "misuse" misuse;
          test "tickets" tickets;
          test "closed before it runs" closed_before_its_turn;
          test "events" events;
          test "the item is released" collected;
          test "threads and domains" domains;
        ] );
      Outside.suite no_effect;
    ]
