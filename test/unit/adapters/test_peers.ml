(* Faults of other libraries' structures which ours must not have, in Eio and Domainslib. The suite for
   operations ([test_contract]) has others: a signal that is lost, and a task that is starved. *)

open Concord
open Concord_test_support
open Check
open Peers_cases
module Fifo = Concord_fifo
module Task = Domainslib.Task

external call_from_c : (unit -> unit) -> unit = "concord_test_call_from_c"

(* --- In Domainslib's tasks ------------------------------------------------------ *)

(* The pool's only domain is the caller's, so a task that blocks it blocks all tasks. *)
let in_pool f =
  let pool = Task.setup_pool ~num_domains:0 () in
  Fun.protect ~finally:(fun () -> Task.teardown_pool pool) @@ fun () ->
  Task.run pool (fun () -> f pool)

(* Eio's mutex makes no progress in Domainslib's tasks (eio#512), and Stdlib's blocks the
   domain. *)
let one_mutex_for_all () =
  let mutex = Mutex.create () and count = ref 0 in
  let work () =
    for _ = 1 to 500 do
      Mutex.protect mutex (fun () ->
          let n = !count in
          if n land 63 = 0 then Event.sync (Event.timeout 0.0001);
          count := n + 1)
    done
  in
  let domain =
    Domain.spawn (fun () ->
        in_pool @@ fun pool ->
        let a = Task.async pool work and b = Task.async pool work in
        Task.await pool a;
        Task.await pool b)
  in
  Eio_main.run (fun _ ->
      Eio.Fiber.both work (fun () -> Fifo.run (fun () -> work ())));
  Domain.join domain;
  int "count" 2_000 !count

(* [Unix.sleep] would delay all other tasks (domainslib#114). *)
let sleep_in_a_task () =
  traced [ "the other"; "woken" ] @@ fun say ->
  in_pool @@ fun pool ->
  let started = Latch.create 1 in
  let sleeper () =
    Latch.count_down started;
    Event.sync (Event.timeout 0.02);
    say "woken"
  in
  let sleeper = Task.async pool sleeper in
  Latch.await started;
  say "the other";
  Task.await pool sleeper

(* [Task.run] in a fiber would stop all fibers of its domain. *)
let job_for_a_pool () =
  let pool = Task.setup_pool ~num_domains:1 () in
  Fun.protect ~finally:(fun () -> Task.teardown_pool pool) @@ fun () ->
  Eio_main.run @@ fun _ ->
  let answer = Channel.create () in
  Eio.Fiber.both
    (fun () ->
      let job () = Channel.receive answer in
      int "answer" 3 (Promise.await (Concord_domainslib.submit pool job)))
    (fun () -> Channel.send answer 3)

(* --- The cost of cancellation ------------------------------------------------------ *)

(* Words allocated for each of [n] tasks that are cancelled. If each cancellation copied the
   queue, this would be [n] words or more. *)
let words_to_leave { wait; waiters; name; _ } n =
  let tasks = List.init n (fun _ -> Hand.start wait) in
  int (name ^ ": all wait") n (waiters ());
  let before = Gc.minor_words () in
  List.iter (fun t -> ignore (Hand.cancel t : bool)) tasks;
  Hand.settle ();
  let words = (Gc.minor_words () -. before) /. float n in
  int (name ^ ": none waits") 0 (waiters ());
  words

let leave_cheaply () =
  List.iter2
    (fun small large ->
      let few = words_to_leave small 100
      and many = words_to_leave large 10_000 in
      if many > (1.5 *. few) +. 20. then
        Alcotest.failf "%s: %.0f words for one of 100, %.0f for one of 10,000"
          small.name few many)
    (places ()) (places ())

let () =
  run "Better than its peers"
    (Peers_cases.suites
    @ [
        ( "in Domainslib's tasks",
          [
            test "a mutex is shared with fibers and tasks of Fifo"
              one_mutex_for_all;
            test "a task that sleeps lets the others run" sleep_in_a_task;
            test "a job of a fiber lets the other fibers run" job_for_a_pool;
          ] );
        ( "instead of Picos'",
          [ test "leaving a queue costs the same in a long one" leave_cheaply ]
        );
        ( "a callback from C",
          [ test "wakes fibers" (main (woken_from call_from_c)) ] );
      ])
