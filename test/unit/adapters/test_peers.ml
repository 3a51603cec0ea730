(* Faults of other libraries' structures which ours must not have, in Eio and Domainslib. *)

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

let each f =
  List.map (fun (name, make) -> test name (fun () -> f (make ()))) makers

let wait_in_a_task { wait; wake; waiters; _ } =
  in_pool @@ fun pool ->
  let started = Latch.create 2 and served = Atomic.make 0 in
  let task () =
    Latch.count_down started;
    wait ();
    Atomic.incr served
  in
  let a = Task.async pool task and b = Task.async pool task in
  Latch.await started;
  int "both wait" 2 (waiters ());
  wake ();
  int "the other waits" 1 (waiters ());
  wake ();
  Task.await pool a;
  Task.await pool b;
  int "both are served" 2 (Atomic.get served)

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

(* --- Signals and locks ----------------------------------------------------------- *)

(* Two tasks wait and one signal comes. The first task is cancelled before it runs again,
   either before the signal or after it. *)
let signalled ~cancel_first =
  let condition = Condition.create () and mutex = Mutex.create () in
  let wait () =
    Hand.start (fun () ->
        Mutex.protect mutex (fun () -> Condition.wait condition mutex))
  in
  let first = wait () in
  let second = wait () in
  if cancel_first then yes "cancelled" (Hand.cancel first);
  Condition.signal condition;
  if not cancel_first then no "too late" (Hand.cancel first);
  Hand.settle ();
  no "the mutex is free" (Mutex.is_locked mutex);
  (first, second)

let signal_is_not_lost () =
  let first, second = signalled ~cancel_first:true in
  raises "the first" Hand.Cancelled (fun () -> Hand.result first);
  Hand.result second;
  let first, second = signalled ~cancel_first:false in
  Hand.result first;
  yes "the second waits" (Hand.waits second)

(* The same case with tasks of Fifo, one of which cancels the other. *)
let signal_is_not_lost_in_fifo () =
  traced [ "first unwinds"; "second" ] @@ fun say ->
  Fifo.run @@ fun () ->
  let condition = Condition.create () and mutex = Mutex.create () in
  let wait name () =
    Mutex.protect mutex (fun () ->
        match Condition.wait condition mutex with
        | () -> say name
        | exception (Fifo.Cancelled as e) ->
            say (name ^ " unwinds");
            raise e)
  in
  let first = Fifo.fork (wait "first") in
  ignore (Fifo.fork (wait "second") : Fifo.handle);
  Fifo.cancel first;
  Condition.signal condition

(* If another task waits for a mutex, the mutex never becomes free for the task that has
   just unlocked it. *)
let no_starvation () =
  traced [ "a 1"; "b 1"; "a 2"; "b 2"; "a 3"; "b 3" ] @@ fun say ->
  let mutex = Mutex.create () in
  let loop name () =
    for i = 1 to 3 do
      Mutex.lock mutex;
      say (Printf.sprintf "%s %d" name i);
      Fifo.yield ();
      Mutex.unlock mutex
    done
  in
  Fifo.run @@ fun () ->
  ignore (Fifo.fork (loop "a") : Fifo.handle);
  loop "b" ()

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

(* --- Choice ------------------------------------------------------------------------ *)

(* As in Go, the first of several ready alternatives has no advantage. *)
let no_bias () =
  let one = Stream.create 1_000 and other = Stream.create 1_000 in
  for _ = 1 to 1_000 do
    Stream.add one ();
    Stream.add other ()
  done;
  for _ = 1 to 1_000 do
    Event.select [ Stream.take_evt one; Stream.take_evt other ]
  done;
  let taken = Stream.length one in
  (* The standard deviation is about 16. The limit is 10 times as much. *)
  if taken < 340 || taken > 660 then
    Alcotest.failf "one was chosen %d times of 1000" taken

let () =
  run "Better than its peers"
    (Peers_cases.suites
    @ [
        ("each operation suspends Domainslib's task only", each wait_in_a_task);
        ( "in Domainslib's tasks",
          [
            test "a mutex is shared with fibers and tasks of Fifo"
              one_mutex_for_all;
            test "a task that sleeps lets the others run" sleep_in_a_task;
            test "a job of a fiber lets the other fibers run" job_for_a_pool;
          ] );
        ( "instead of Picos'",
          [
            test "a signal is not lost" signal_is_not_lost;
            test "a signal is not lost, in Fifo" signal_is_not_lost_in_fifo;
            test "a task that loops on a mutex does not starve others"
              no_starvation;
            test "leaving a queue costs the same in a long one" leave_cheaply;
          ] );
        ( "a callback from C",
          [ test "wakes fibers" (main (woken_from call_from_c)) ] );
        ("choice", [ test "has no bias" no_bias ]);
      ])
