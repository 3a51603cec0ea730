(* A bounded buffer made of a mutex and two conditions, shared by threads, domains and tasks
   of Fifo. *)

open Concord
open Concord_test_support

let capacity = 2
let each = 1000

let run () =
  let m = Mutex.create () in
  let not_full = Condition.create () and not_empty = Condition.create () in
  let buffer = Queue.create () in
  let sum = ref 0 and most = ref 0 in
  let produce () =
    for i = 1 to each do
      Mutex.protect m @@ fun () ->
      while Queue.length buffer = capacity do
        Condition.wait not_full m
      done;
      Queue.push i buffer;
      Condition.signal not_empty
    done
  in
  let consume () =
    for _ = 1 to each do
      Mutex.protect m @@ fun () ->
      while Queue.is_empty buffer do
        Condition.wait not_empty m
      done;
      most := max !most (Queue.length buffer);
      sum := !sum + Queue.pop buffer;
      Condition.signal not_full
    done
  in
  let both () =
    Concord_fifo.run @@ fun () ->
    List.iter Concord_fifo.join
      (List.map Concord_fifo.fork [ produce; consume ])
  in
  let join = Check.domain both in
  Check.beside produce consume;
  join ();
  Check.yes "bounded" (!most <= capacity);
  Check.int "every value arrives once" (each * (each + 1)) !sum;
  Check.int "no task waits" 0
    (Condition.waiters not_full + Condition.waiters not_empty)
