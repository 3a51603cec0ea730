(* A poller that is woken just before it waits returns. *)

open Concord_test_support
open Check
module Poller = Concord_aio__Poller

let rounds = 50_000

(* Another domain wakes it once for each round, at an arbitrary time. *)
let woken () =
  let poller = Poller.take () in
  let asked = Atomic.make 0 in
  let join =
    domain (fun () ->
        for i = 1 to rounds do
          while Atomic.get asked < i do
            Domain.cpu_relax ()
          done;
          Poller.wake poller
        done)
  in
  for i = 1 to rounds do
    Atomic.set asked i;
    for _ = 1 to i land 15 do
      Domain.cpu_relax ()
    done;
    Poller.poll poller ~block:true
  done;
  join ()

(* If there is nothing to do from the start, the loop sleeps. *)
let sleeps () =
  let poller = Poller.take () in
  let polls = Atomic.make 0 and over = Atomic.make false in
  let join =
    domain (fun () ->
        while not (Atomic.get over) do
          Poller.poll poller ~block:true;
          Atomic.incr polls
        done)
  in
  (* In this time, a loop that doesn't sleep would poll many times. *)
  let until = Unix.gettimeofday () +. 0.05 in
  while Unix.gettimeofday () < until && Atomic.get polls < 1000 do
    Domain.cpu_relax ()
  done;
  int "polls" 0 (Atomic.get polls);
  Atomic.set over true;
  Poller.wake poller;
  join ()

let () =
  Check.run "aio: wake"
    [ ("poller", [ test "woken" woken; test "sleeps" sleeps ]) ]
