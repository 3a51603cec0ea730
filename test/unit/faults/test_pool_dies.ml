(* A pool is torn down while its tasks wait in structures where others wait too. *)

open Concord
open Concord_test_support
open Check
module Fifo = Concord_fifo
module Pool = Domainslib.Task

(* Calls [f] with two functions. The first runs a waiting job in a pool, and the second
   tears the pool down. *)
let with_pool f =
  let pool = Pool.setup_pool ~num_domains:1 () in
  Concord_domainslib.attach pool;
  let job wait =
    let ended = Concord_domainslib.submit pool wait in
    fun () ->
      raises "the job" Concord_domainslib.Torn_down (fun () ->
          Promise.await ended)
  in
  f job (fun () -> Pool.teardown_pool pool)

(* Raises instead of using Alcotest's checks, because those print, and this runs on another
   domain. *)
let same what expected actual = if actual <> expected then failwith what

let places =
  [
    ("a thread", thread);
    ("a task of Fifo", fun f -> thread (fun () -> Fifo.run f));
    ("a task of Fifo on another domain", fun f -> domain (fun () -> Fifo.run f));
    ("a fiber of Eio", fun f -> domain (fun () -> Eio_main.run (fun _ -> f ())));
  ]

(* The promise serves all waiters at once. *)
let all start () =
  with_pool @@ fun job tear_down ->
  let p = Promise.create () in
  let before = start (fun () -> same "before" 1 (Promise.await p)) in
  eventually "it waits" (fun () -> Promise.waiters p = 1);
  let lost = job (fun () -> ignore (Promise.await p : int)) in
  eventually "the job waits" (fun () -> Promise.waiters p = 2);
  let behind = start (fun () -> same "behind" 1 (Promise.await p)) in
  eventually "another one waits" (fun () -> Promise.waiters p = 3);
  tear_down ();
  lost ();
  Promise.fill p 1;
  before ();
  behind ()

(* The job's item is lost with the job. Later items must go to the next waiter. *)
let in_turn start () =
  with_pool @@ fun job tear_down ->
  let box = Mailbox.create () in
  let lost = job (fun () -> ignore (Mailbox.take box : int)) in
  eventually "the job waits" (fun () -> Mailbox.waiters box = 1);
  let behind = start (fun () -> same "behind" 2 (Mailbox.take box)) in
  eventually "another one waits" (fun () -> Mailbox.waiters box = 2);
  tear_down ();
  lost ();
  Mailbox.add box 1;
  Mailbox.add box 2;
  behind ()

(* The alternative that the job hasn't chosen. *)
let in_a_choice start () =
  with_pool @@ fun job tear_down ->
  let p = Promise.create () and box = Mailbox.create () in
  let lost =
    job (fun () ->
        Event.select
          [ Promise.await_evt p; Event.wrap (Mailbox.take_evt box) ignore ])
  in
  eventually "the job waits" (fun () -> Mailbox.waiters box = 1);
  tear_down ();
  lost ();
  Promise.fill p ();
  Mailbox.add box 1;
  start (fun () -> same "it was not taken" 1 (Mailbox.take box)) ()

let suite (name, start) =
  ( name,
    [
      test "all are served" (all start);
      test "the next one is served" (in_turn start);
      test "an alternative that the job did not choose" (in_a_choice start);
    ] )

let () =
  run "A pool that is torn down under waiting tasks" (List.map suite places)
