(* What holds for everything that one task at a time can hold: a mutex, a semaphore
   with one permit, a lock to write. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

(* A free one. *)
type t = {
  acquire : unit -> unit;
  try_acquire : unit -> bool;
  release : unit -> unit;
  evt : unit Event.t;
  waiters : unit -> int;
  words : unit -> int;
}

let held make =
  let t = make () in
  yes "it was free" (t.try_acquire ());
  t

let waiting t n = int "waiters" n (t.waiters ())
let free t = yes "it is free" (t.try_acquire ())

let task t say name =
  Hand.start (fun () ->
      t.acquire ();
      say name)

let pass t =
  t.release ();
  Hand.settle ()

(* --- Order ---------------------------------------------------------------- *)

let in_order make () =
  traced [ "passed on"; "a"; "passed on"; "b"; "c" ] @@ fun say ->
  let t = held make in
  let _tasks = List.map (task t say) [ "a"; "b"; "c" ] in
  waiting t 3;
  for _ = 1 to 2 do
    t.release ();
    no "a newcomer does not overtake" (t.try_acquire ());
    say "passed on";
    Hand.settle ()
  done;
  waiting t 1;
  pass t;
  waiting t 0;
  no "the last one holds it" (t.try_acquire ());
  t.release ();
  free t

let newcomers make () =
  traced [ "a"; "b"; "newcomer" ] @@ fun say ->
  let t = held make in
  let _tasks = List.map (task t say) [ "a"; "b" ] in
  t.release ();
  let _newcomer = task t say "newcomer" in
  waiting t 2;
  Hand.settle ();
  pass t;
  pass t

let in_fifo make () =
  traced [ "forked"; "a"; "b"; "c"; "main" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let t = held make in
  let hold name () =
    t.acquire ();
    say name;
    Fifo.yield ();
    t.release ()
  in
  let tasks = List.map (fun name -> Fifo.fork (hold name)) [ "a"; "b"; "c" ] in
  say "forked";
  t.release ();
  t.acquire ();
  say "main";
  List.iter Fifo.join tasks

(* It is released between the look and the registration. *)
let released_before_block make () =
  let t = held make in
  let task = Hand.start ~before_block:t.release t.acquire in
  Hand.result task;
  waiting t 0;
  no "held" (t.try_acquire ())

(* --- Cancellation --------------------------------------------------------- *)

let names = [ "a"; "b"; "c" ]
let others k = List.filteri (fun i _ -> i <> k) names

let drain t =
  for _ = 1 to 2 do
    pass t
  done;
  no "the last one holds it" (t.try_acquire ());
  t.release ();
  free t

let cancelled make k () =
  traced (others k) @@ fun say ->
  let t = held make in
  let tasks = List.map (task t say) names in
  Hand.unwind (List.nth tasks k);
  waiting t 2;
  drain t

(* It was cancelled, but had no turn yet to withdraw: its resumer refuses. *)
let doomed make k () =
  traced (others k) @@ fun say ->
  let t = held make in
  let tasks = List.map (task t say) names in
  let doomed = List.nth tasks k in
  yes "cancel" (Hand.cancel doomed);
  if k = 0 then t.release () else pass t;
  Hand.settle ();
  waiting t 1;
  Hand.unwound doomed;
  pass t;
  waiting t 0;
  t.release ();
  free t

let doomed_alone make () =
  let t = held make in
  let doomed = Hand.start t.acquire in
  yes "cancel" (Hand.cancel doomed);
  t.release ();
  free t;
  Hand.settle ();
  Hand.unwound doomed;
  waiting t 0;
  no "unwinding released nothing" (t.try_acquire ())

let resumed_then_cancelled make () =
  let t = held make in
  let a = Hand.start t.acquire in
  let b = Hand.start t.acquire in
  t.release ();
  no "too late" (Hand.cancel a);
  Hand.settle ();
  Hand.result a;
  yes "the next one waits" (Hand.waits b);
  no "it is held" (t.try_acquire ());
  pass t;
  Hand.result b

let cancelled_before_block make () =
  let t = held make in
  let gate = Promise.create () in
  let a =
    Hand.start (fun () ->
        Promise.await gate;
        t.acquire ())
  in
  Promise.fill gate ();
  Hand.stop a;
  Hand.settle ();
  Hand.unwound a;
  waiting t 0;
  t.release ();
  free t

(* A waiter that left is passed over; it is counted once. *)
let count make () =
  let t = held make in
  let first = Hand.start t.acquire in
  let tasks = List.init 3 (fun _ -> Hand.start t.acquire) in
  Hand.unwind first;
  waiting t 3;
  pass t;
  waiting t 2;
  let doomed = Hand.start t.acquire in
  let last = Hand.start t.acquire in
  yes "cancel" (Hand.cancel doomed);
  pass t;
  waiting t 2;
  pass t;
  List.iter Hand.result tasks;
  waiting t 1;
  pass t;
  Hand.result last;
  waiting t 0

let bulk make wait () =
  let t = held make in
  let before = t.words () in
  for _ = 1 to 10_000 do
    ignore (Hand.cancel (Hand.start (wait t)) : bool);
    Hand.settle ()
  done;
  waiting t 0;
  int "one by one: words" before (t.words ());
  let tasks = List.init 10_000 (fun _ -> Hand.start (wait t)) in
  waiting t 10_000;
  List.iter (fun task -> ignore (Hand.cancel task : bool)) tasks;
  Hand.settle ();
  waiting t 0;
  int "all at once: words" before (t.words ());
  t.release ();
  free t

(* --- Threads and domains -------------------------------------------------- *)

let exclusion make () =
  let t = make () in
  let inside = ref 0 and most = ref 0 and total = ref 0 in
  let work () =
    for _ = 1 to 1000 do
      t.acquire ();
      incr inside;
      most := max !most !inside;
      incr total;
      decr inside;
      t.release ()
    done
  in
  let fifo () =
    Fifo.run @@ fun () ->
    List.iter Fifo.join (List.init 2 (fun _ -> Fifo.fork work))
  in
  let domain = domain fifo in
  beside work work;
  domain ();
  int "alone" 1 !most;
  int "every turn" 4000 !total;
  waiting t 0;
  free t

let suites make =
  let each name f =
    List.mapi
      (fun k which -> test (Printf.sprintf name which) (f make k))
      [ "first"; "second"; "last" ]
  in
  [
    ( "order",
      [
        test "waiters are served in order" (in_order make);
        test "newcomers come last" (newcomers make);
        test "the same in Fifo" (in_fifo make);
        test "released before the registration" (released_before_block make);
        test "threads and domains exclude each other" (exclusion make);
      ] );
    ( "cancellation",
      each "the %s waiter is cancelled" cancelled
      @ each "the %s waiter is cancelled and refuses" doomed
      @ [
          test "released to a cancelled task alone" (doomed_alone make);
          test "resumed, then cancelled: it holds" (resumed_then_cancelled make);
          test "cancelled before it is registered" (cancelled_before_block make);
          test "waiters counts those that wait" (count make);
          test "10,000 cancelled waits leave no memory"
            (bulk make (fun t -> t.acquire));
          test "10,000 cancelled events leave no memory"
            (bulk make (fun t () -> Event.sync t.evt));
          test "10,000 cancelled choices leave no memory"
            (bulk make (fun t () -> Event.select [ t.evt; Event.never ]));
        ] );
  ]
