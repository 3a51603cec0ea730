(* A million tasks wait for one promise. Waking them must visit each waiter only once. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo

let n = if instrumented || debugged then 20_000 else 1_000_000

(* Every third waiter is cancelled. *)
let is_cancelled i = i mod 3 = 0

let tasks () =
  let p = Promise.create () in
  let last = ref (-1) and went_on = ref 0 and disorder = ref 0 in
  let wait i () =
    Promise.await p;
    if i <= !last then incr disorder;
    last := i;
    incr went_on
  in
  Fifo.run (fun () ->
      let cancelled = ref 0 in
      let tasks = Array.init n (fun i -> Fifo.fork (wait i)) in
      int "all wait" n (Promise.waiters p);
      Array.iteri
        (fun i task ->
          if is_cancelled i then begin
            incr cancelled;
            Fifo.cancel task
          end)
        tasks;
      Fifo.yield ();
      int "some were cancelled" (n - !cancelled) (Promise.waiters p);
      Promise.fill p ();
      int "no task waits" 0 (Promise.waiters p);
      Array.iter Fifo.join tasks;
      int "the others continued" (n - !cancelled) !went_on);
  int "in the order of their arrival" 0 !disorder

let functions () =
  let p = Promise.create () in
  let calls = ref 0 and disorder = ref 0 in
  for i = 0 to n - 1 do
    Promise.on_resolve p (fun _ ->
        if !calls <> i then incr disorder;
        incr calls)
  done;
  int "all wait" n (Promise.waiters p);
  Promise.fill p ();
  int "all were called" n !calls;
  int "in the order of their arrival" 0 !disorder

let () =
  run "Many waiters"
    [
      ( "1,000,000 waiters on one promise",
        [ test "tasks" tasks; test "functions" functions ] );
    ]
