(* Eio's fibers, switches and I/O stay. Fibers wait in Concord's structures. *)

open Eio
open Concord

exception No_more

let () =
  Eio_main.run @@ fun _ ->
  (* A stream can be closed. *)
  let items = Stream.create 2 in
  let sum, () =
    Fiber.pair
      (fun () ->
        let rec add sum =
          match Stream.take items with
          | n -> add (sum + n)
          | exception Stream.Closed -> sum
        in
        add 0)
      (fun () ->
        for i = 1 to 5 do
          Stream.add items i
        done;
        Stream.close items)
  in
  traceln "sum %d" sum;
  let promise = Promise.create () in
  Fiber.both
    (fun () ->
      match Promise.await promise with
      | () -> traceln "impossible"
      | exception No_more -> traceln "no more")
    (fun () -> Promise.fail promise No_more);
  let mutex = Mutex.create () and visits = ref 0 in
  let desks = Semaphore.Counting.make 2 in
  Switch.run (fun sw ->
      for _ = 1 to 3 do
        Fiber.fork ~sw (fun () ->
            Semaphore.Counting.acquire desks;
            Mutex.protect mutex (fun () -> incr visits);
            Semaphore.Counting.release desks)
      done);
  traceln "visits %d" !visits;
  let changed = Condition.create () and ready = ref false in
  Fiber.both
    (fun () ->
      Mutex.protect mutex (fun () ->
          while not !ready do
            Condition.wait changed mutex
          done;
          traceln "ready"))
    (fun () ->
      Mutex.protect mutex (fun () -> ready := true);
      Condition.broadcast changed);
  let quiet = Stream.create 1 in
  (match Event.sync_before 0.01 (Stream.take_evt quiet) with
  | Some () -> traceln "impossible"
  | None -> traceln "too late");
  Stream.add quiet ();
  traceln "%s"
    (Event.select
       [ Event.wrap (Stream.take_evt quiet) (fun () -> "first"); Event.never ]);
  let computed = ref 0 in
  let table =
    Lazy.from_fun (fun () ->
        incr computed;
        Fiber.yield ();
        42)
  in
  let a, b =
    Fiber.pair (fun () -> Lazy.force table) (fun () -> Lazy.force table)
  in
  traceln "%d, computed %d" (a + b) !computed
