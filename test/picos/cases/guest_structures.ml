(* Tasks of other hosts in Picos's structures. The other side is fibers of Picos in another
   domain. *)

open Picos
module P = Picos_std_sync
module Ev = Picos_std_event.Event
open Concord_test_support.Check

let elsewhere f = domain (fun () -> Schedulers.fifo.run f)

exception Boom

(* A box with room for one value. *)
let mutex_and_condition () =
  let mutex = P.Mutex.create () and changed = P.Condition.create () in
  let box = ref None and n = 200 in
  let rec take () =
    match !box with
    | Some v ->
        box := None;
        P.Condition.broadcast changed;
        v
    | None ->
        P.Condition.wait changed mutex;
        take ()
  and put v =
    if Option.is_none !box then begin
      box := Some v;
      P.Condition.broadcast changed
    end
    else begin
      P.Condition.wait changed mutex;
      put v
    end
  in
  let join =
    elsewhere (fun () ->
        for i = 1 to n do
          P.Mutex.protect mutex (fun () -> put i)
        done)
  in
  for i = 1 to n do
    int "in turn" i (P.Mutex.protect mutex take)
  done;
  join ()

let semaphores () =
  let asked = P.Semaphore.Counting.make 0 in
  let answered = P.Semaphore.Binary.make false and n = 200 in
  let join =
    elsewhere (fun () ->
        for _ = 1 to n do
          P.Semaphore.Counting.acquire asked;
          P.Semaphore.Binary.release answered
        done)
  in
  for _ = 1 to n do
    P.Semaphore.Counting.release asked;
    P.Semaphore.Binary.acquire answered
  done;
  join ()

let stream () =
  let stream = P.Stream.create () and n = 200 in
  let cursor = P.Stream.tap stream in
  let join =
    elsewhere (fun () ->
        for i = 1 to n do
          P.Stream.push stream i;
          Fiber.yield ()
        done)
  in
  let rec sum cursor left =
    if left = 0 then 0
    else
      let v, next = P.Stream.read cursor in
      v + sum next (left - 1)
  in
  int "sum" (n * (n + 1) / 2) (sum cursor n);
  join ()

let ivar () =
  let question = P.Ivar.create () and answer = P.Ivar.create () in
  let join =
    elsewhere (fun () -> P.Ivar.fill answer (P.Ivar.read question + 1))
  in
  P.Ivar.fill question 6;
  int "answer" 7 (P.Ivar.read answer);
  join ();
  let poisoned : unit P.Ivar.t = P.Ivar.create () in
  let join = elsewhere (fun () -> P.Ivar.poison poisoned Boom) in
  raises "poison" Boom (fun () -> P.Ivar.read poisoned);
  join ()

let latch_and_lazy () =
  let latch = P.Latch.create 2 and gate = P.Ivar.create () in
  let computed = P.Lazy.from_fun (fun () -> P.Ivar.read gate) in
  let join =
    elsewhere (fun () ->
        P.Latch.decr latch;
        P.Lazy.force computed)
  in
  P.Latch.decr latch;
  P.Latch.await latch;
  let fill = elsewhere (fun () -> P.Ivar.fill gate 5) in
  int "forced here" 5 (P.Lazy.force computed);
  int "forced there" 5 (join ());
  fill ()

let events () =
  let news = P.Ivar.create () and stop = P.Ivar.create () in
  let join = elsewhere (fun () -> P.Ivar.fill stop 2) in
  int "the one that comes" 2
    (Ev.select [ P.Ivar.read_evt news; P.Ivar.read_evt stop ]);
  P.Ivar.fill news 1;
  join ()

let computations () =
  let c = Computation.create () in
  let join = elsewhere (fun () -> Computation.return c 3) in
  int "awaited" 3 (Computation.await c);
  join ()

let cases =
  [
    ("Mutex, Condition", mutex_and_condition);
    ("Semaphore", semaphores);
    ("Stream", stream);
    ("Ivar", ivar);
    ("Latch, Lazy", latch_and_lazy);
    ("Event", events);
    ("Computation", computations);
  ]
