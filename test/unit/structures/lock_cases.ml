(* Cases for everything that one task at a time can hold: a mutex, a semaphore with one
   permit, and a write lock. *)

open Concord_test_support
open Check
module Fifo = Concord_fifo

(* A lock that is free at first. *)
type t = {
  acquire : unit -> unit;
  try_acquire : unit -> bool;
  release : unit -> unit;
  waiters : unit -> int;
}

let held make =
  let t = make () in
  yes "it was free" (t.try_acquire ());
  t

let waiting t n = int "waiters" n (t.waiters ())
let free t = yes "it is free" (t.try_acquire ())

let trying make () =
  let t = held make in
  let tasks = List.init 2 (fun _ -> Hand.start t.acquire) in
  for k = 0 to 1 do
    t.release ();
    no "it was passed on" (t.try_acquire ());
    Hand.settle ();
    Hand.result (List.nth tasks k)
  done;
  no "the last one holds it" (t.try_acquire ());
  t.release ();
  free t

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

let suite make =
  ( "as a lock",
    [
      test "a task that only tries does not overtake" (trying make);
      test "tasks of Fifo take turns" (in_fifo make);
      test "threads and domains exclude each other" (exclusion make);
    ] )
