(* Concord_domainslib.run. The tests of [submit] are in test_domainslib.ml. *)

open Pools
open Concord
open Concord_test_support
open Check
module Pool = Domainslib.Task
module Fifo = Concord_fifo
open Concord_domainslib

(* --- run ------------------------------------------------------------------- *)

let run_of_the_caller () =
  with_pool ~num_domains:1 @@ fun pool ->
  int "Task.run" 3 (Pool.run pool (fun () -> run pool (fun () -> 3)))

let run_exceptions () =
  with_pool ~num_domains:1 @@ fun pool ->
  let job () =
    Printexc.record_backtrace true;
    culprit ()
  in
  raises "run" Boom (fun () -> run pool job);
  raises_at "culprit" (fun () -> run pool job)

let run_cancelled_before () =
  with_pool ~num_domains:1 @@ fun pool ->
  let ran = Atomic.make false in
  let _, free = occupy pool in
  Fifo.run (fun () ->
      let job () = Atomic.set ran true in
      let waiter =
        Fifo.fork (fun () ->
            raises "run" Fifo.Cancelled (fun () -> run pool job))
      in
      Fifo.cancel waiter;
      Fifo.join waiter);
  free ();
  drain pool;
  no "it never runs" (Atomic.get ran)

let run_cancelled_after () =
  with_pool ~num_domains:1 @@ fun pool ->
  let started = Promise.create () and gate = Promise.create () in
  let ended = Atomic.make false in
  Fifo.run (fun () ->
      let job () =
        Promise.fill started ();
        Promise.await gate;
        Atomic.set ended true
      in
      let waiter =
        Fifo.fork (fun () ->
            raises "run" Fifo.Cancelled (fun () -> run pool job))
      in
      Promise.await started;
      Fifo.cancel waiter;
      Fifo.join waiter);
  no "at once" (Atomic.get ended);
  Promise.fill gate ();
  drain pool;
  yes "the job has run to its end" (Atomic.get ended)

(* Each job runs or is withdrawn, and [drain] counts it once. *)
let run_cancelled_while_it_starts () =
  with_pool ~num_domains:1 @@ fun pool ->
  let ran = Atomic.make 0 and returned = ref 0 in
  Fifo.run (fun () ->
      for i = 1 to 500 do
        let waiter =
          Fifo.fork (fun () ->
              run pool (fun () -> Atomic.incr ran);
              incr returned)
        in
        for _ = 1 to i mod 3 do
          Fifo.yield ()
        done;
        Fifo.cancel waiter;
        match Fifo.join waiter with () | (exception Fifo.Cancelled) -> ()
      done);
  drain pool;
  let n = Atomic.get ran in
  yes "those that returned have run" (!returned <= n && n <= 500);
  settle pool;
  int "no other runs" n (Atomic.get ran)

let run_in_eio () =
  with_pool ~num_domains:1 @@ fun pool ->
  eio (fun () ->
      let gate = Promise.create () in
      Eio.Fiber.both
        (fun () ->
          int "value" 4
            (run pool (fun () ->
                 Promise.await gate;
                 4)))
        (fun () -> Promise.fill gate ()))

let () =
  Printexc.record_backtrace true;
  Check.run "Pools"
    [
      ( "run",
        [
          test "in Task.run" run_of_the_caller;
          test "exceptions" run_exceptions;
          test "cancelled before the start: never runs" run_cancelled_before;
          test "cancelled after the start: at once" run_cancelled_after;
          test "cancelled while it starts" run_cancelled_while_it_starts;
          test "in a fiber" run_in_eio;
        ] );
    ]
