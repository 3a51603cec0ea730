open Concord
open Concord_test_support
open Check
module Counting = Semaphore.Counting
module Binary = Semaphore.Binary

let misuse () =
  raises "make"
    (Invalid_argument
       "Semaphore.Counting.make: the number of permits is -1, but must not be \
        negative") (fun () -> Counting.make (-1));
  let t = Counting.make max_int in
  raises "release" (Sys_error "Semaphore.Counting.release: overflow") (fun () ->
      Counting.release t);
  int "unchanged" max_int (Counting.get_value t);
  Counting.acquire t;
  Counting.release t;
  int "the last one" max_int (Counting.get_value t)

let counts () =
  let t = Counting.make 2 in
  int "new" 2 (Counting.get_value t);
  Counting.acquire t;
  yes "the second" (Counting.try_acquire t);
  no "no third" (Counting.try_acquire t);
  int "none" 0 (Counting.get_value t);
  List.iter (fun () -> Counting.release t) [ (); (); () ];
  int "more than at first" 3 (Counting.get_value t);
  no "made of none" (Counting.try_acquire (Counting.make 0))

let permits_pass_on () =
  traced [ "two released"; "a"; "b"; "c" ] @@ fun say ->
  let t = Counting.make 0 in
  let wait name =
    Hand.start (fun () ->
        Counting.acquire t;
        say name)
  in
  let _tasks = List.map wait [ "a"; "b"; "c" ] in
  Counting.release t;
  Counting.release t;
  int "no other task gets them" 0 (Counting.get_value t);
  no "nor tries" (Counting.try_acquire t);
  int "waiters" 1 (Counting.waiters t);
  say "two released";
  Hand.settle ();
  Counting.release t;
  Hand.settle ();
  Counting.release t;
  int "no task waits" 1 (Counting.get_value t)

(* No permit may be lost, whether the tasks that are offered one accept or refuse it. *)
let permits_are_kept () =
  let t = Counting.make 0 in
  let wait () = Hand.start (fun () -> Counting.acquire t) in
  let tasks = List.init 100 (fun _ -> wait ()) in
  List.iteri (fun i task -> if i mod 2 = 0 then ignore (Hand.cancel task)) tasks;
  for _ = 1 to 70 do
    Counting.release t
  done;
  Hand.settle ();
  List.iteri
    (fun i task -> if i mod 2 = 0 then Hand.unwound task else Hand.result task)
    tasks;
  int "cancelled tasks took none" 20 (Counting.get_value t);
  int "waiters" 0 (Counting.waiters t)

(* --- Several at once ------------------------------------------------------------- *)

let misuse_of_several () =
  let t = Counting.make 3 in
  let negative name f =
    raises name
      (Invalid_argument
         ("Semaphore.Counting." ^ name
        ^ ": the number of permits is -2, but must not be negative"))
      f
  in
  negative "acquire_n" (fun () -> Counting.acquire_n t (-2));
  negative "try_acquire_n" (fun () -> ignore (Counting.try_acquire_n t (-2)));
  negative "release_n" (fun () -> Counting.release_n t (-2));
  negative "acquire_n_evt" (fun () -> ignore (Counting.acquire_n_evt t (-2)));
  negative "with_permits" (fun () -> Counting.with_permits t (-2) ignore);
  negative "try_with_permits" (fun () ->
      Counting.try_with_permits t (-2) ignore);
  int "unchanged" 3 (Counting.get_value t);
  let t = Counting.make (max_int - 2) in
  raises "release_n" (Sys_error "Semaphore.Counting.release_n: overflow")
    (fun () -> Counting.release_n t 3);
  int "none was returned" (max_int - 2) (Counting.get_value t);
  Counting.release_n t 2;
  int "as many as there may be" max_int (Counting.get_value t);
  yes "and all of them at once" (Counting.try_acquire_n t max_int);
  int "none left" 0 (Counting.get_value t)

let several () =
  let t = Counting.make 5 in
  Counting.acquire_n t 2;
  int "without two" 3 (Counting.get_value t);
  no "no four" (Counting.try_acquire_n t 4);
  int "none was taken" 3 (Counting.get_value t);
  yes "three" (Counting.try_acquire_n t 3);
  Counting.release t;
  Counting.release_n t 4;
  int "all are back" 5 (Counting.get_value t);
  int "the value" 7
    (Counting.with_permits t 5 (fun () ->
         int "taken" 0 (Counting.get_value t);
         7));
  raises "raises" Exit (fun () ->
      Counting.with_permits t 4 (fun () -> raise Exit));
  int "released" 5 (Counting.get_value t);
  yes "an event" (Event.poll (Counting.acquire_n_evt t 5) = Some ());
  yes "no more" (Event.poll (Counting.acquire_n_evt t 1) = None)

let acquires t say (name, n) =
  Hand.start (fun () ->
      Counting.acquire_n t n;
      say name)

(* The first waiter needs many permits. There are enough for the waiters behind it, but they
   must not overtake. *)
let large_first () =
  traced [ "two"; "large"; "three"; "small"; "none"; "one" ] @@ fun say ->
  let t = Counting.make 2 in
  let tasks =
    List.map (acquires t say) [ ("large", 3); ("small", 1); ("none", 0) ]
  in
  let one =
    Hand.start (fun () ->
        Counting.acquire t;
        say "one")
  in
  no "one doesn't overtake" (Counting.try_acquire t);
  no "nor two" (Counting.try_acquire_n t 2);
  no "nor none" (Counting.try_acquire_n t 0);
  int "waiters" 4 (Counting.waiters t);
  say "two";
  Counting.release t;
  int "the large one has them" 0 (Counting.get_value t);
  Hand.settle ();
  say "three";
  Counting.release_n t 3;
  Hand.settle ();
  List.iter Hand.result tasks;
  Hand.result one;
  int "one left" 1 (Counting.get_value t)

(* When a cancelled waiter is unwound, the waiters behind it are served. *)
let large_cancelled () =
  let t = Counting.make 3 in
  let large = acquires t ignore ("large", 5) in
  let two = acquires t ignore ("two", 2)
  and one = acquires t ignore ("one", 1) in
  let many = acquires t ignore ("many", 2) in
  int "no task is served" 3 (Counting.get_value t);
  Hand.unwind large;
  Hand.settle ();
  Hand.result two;
  Hand.result one;
  int "they have all" 0 (Counting.get_value t);
  int "the last one waits" 1 (Counting.waiters t);
  Counting.release_n t 2;
  Hand.settle ();
  Hand.result many

(* A cancelled waiter that isn't unwound refuses, so the release must serve the next one. *)
let large_refuses () =
  let t = Counting.make 0 in
  let large = acquires t ignore ("large", 4) in
  let small = acquires t ignore ("small", 3) in
  ignore (Hand.cancel large);
  Counting.release_n t 4;
  Hand.settle ();
  Hand.unwound large;
  Hand.result small;
  int "the rest is free" 1 (Counting.get_value t)

(* Each task needs two of three permits. If it took them one after the other, two tasks
   could hold one each and block forever. *)
let two_of_three () =
  let t = Counting.make 3 in
  let turns = Atomic.make 0 in
  let work () =
    for _ = 1 to 500 do
      Counting.with_permits t 2 (fun () ->
          Atomic.incr turns;
          Concord_fifo.yield ())
    done
  in
  let tasks () =
    Concord_fifo.run @@ fun () ->
    List.iter Concord_fifo.join (List.init 3 (fun _ -> Concord_fifo.fork work))
  in
  let other = domain tasks in
  tasks ();
  other ();
  int "every turn" 3000 (Atomic.get turns);
  int "all are back" 3 (Counting.get_value t)

(* --- The limit ---------------------------------------------------------------------- *)

let limit () =
  let t = Counting.make 3 in
  let inside = Atomic.make 0 and most = Atomic.make 0 in
  let rec note n =
    let m = Atomic.get most in
    if n > m && not (Atomic.compare_and_set most m n) then note n
  in
  let work () =
    for _ = 1 to 500 do
      Counting.acquire t;
      note (1 + Atomic.fetch_and_add inside 1);
      Concord_fifo.yield ();
      Atomic.decr inside;
      Counting.release t
    done
  in
  let tasks () =
    Concord_fifo.run @@ fun () ->
    List.iter Concord_fifo.join (List.init 4 (fun _ -> Concord_fifo.fork work))
  in
  let other = domain tasks in
  tasks ();
  other ();
  yes "never more than 3" (Atomic.get most <= 3);
  yes "more than one" (Atomic.get most > 1);
  int "all are back" 3 (Counting.get_value t)

let binary () =
  let t = Binary.make false in
  no "none" (Binary.try_acquire t);
  Binary.release t;
  Binary.release t;
  Binary.acquire t;
  no "two releases are one permit" (Binary.try_acquire t);
  let a = Hand.start (fun () -> Binary.acquire t) in
  let b = Hand.start (fun () -> Binary.acquire t) in
  Binary.release t;
  Binary.release t;
  Hand.settle ();
  Hand.result a;
  Hand.result b;
  no "each passed on" (Binary.try_acquire t);
  yes "available" (Binary.try_acquire (Binary.make true))

let no_effect () =
  let t = Counting.make 1 in
  yes "acquire" (Counting.try_acquire t);
  yes "poll" (Event.poll (Counting.acquire_evt t) = None);
  let task = Hand.start (fun () -> Counting.acquire t) in
  int "waiters" 1 (Counting.waiters t);
  Counting.release t;
  Counting.release t;
  int "value" 1 (Counting.get_value t);
  Counting.acquire t;
  Hand.settle ();
  Hand.result task;
  let t = Binary.make false in
  no "acquire" (Binary.try_acquire t);
  let task = Hand.start (fun () -> Binary.acquire t) in
  int "waiters" 1 (Binary.waiters t);
  Binary.release t;
  Binary.release t;
  yes "poll" (Event.poll (Binary.acquire_evt t) = Some ());
  Hand.settle ();
  Hand.result task

let counting () : Lock_cases.t =
  let t = Counting.make 1 in
  {
    acquire = (fun () -> Counting.acquire t);
    try_acquire = (fun () -> Counting.try_acquire t);
    release = (fun () -> Counting.release t);
    waiters = (fun () -> Counting.waiters t);
  }

let one_permit () : Lock_cases.t =
  let t = Binary.make true in
  {
    acquire = (fun () -> Binary.acquire t);
    try_acquire = (fun () -> Binary.try_acquire t);
    release = (fun () -> Binary.release t);
    waiters = (fun () -> Binary.waiters t);
  }

let as_a_lock kind make =
  let name, tests = Lock_cases.suite make in
  (kind ^ ", " ^ name, tests)

(* However the function ends, the permit is released. This includes a task that is cancelled
   in it or before. *)
let with_permit () =
  let each (name, with_permit, try_with_permit, try_acquire, release) =
    int (name ^ ": the value") 1
      (with_permit (fun () ->
           no (name ^ ": it has it") (try_acquire ());
           1));
    raises (name ^ ": raises") Exit (fun () ->
        with_permit (fun () -> raise Exit));
    yes (name ^ ": released") (try_acquire ());
    yes (name ^ ": none") (try_with_permit (fun () -> 1) = None);
    release ();
    yes (name ^ ": tried")
      (try_with_permit (fun () -> Bool.to_int (try_acquire ())) = Some 0);
    raises (name ^ ": raises if tried") Exit (fun () ->
        try_with_permit (fun () -> raise Exit));
    yes (name ^ ": released") (try_acquire ());
    let begun = ref false in
    let waiting =
      Hand.start (fun () ->
          with_permit (fun () ->
              begun := true;
              2))
    in
    Hand.unwind waiting;
    no (name ^ ": cancelled before") !begun;
    release ();
    let inside =
      Hand.start (fun () ->
          with_permit (fun () -> Promise.await (Promise.create ())))
    in
    no (name ^ ": it has it") (try_acquire ());
    Hand.unwind inside;
    yes (name ^ ": released by a cancelled one") (try_acquire ())
  in
  let c = Counting.make 1 and b = Binary.make true in
  each
    ( "Counting",
      (fun f -> Counting.with_permit c f),
      (fun f -> Counting.try_with_permit c f),
      (fun () -> Counting.try_acquire c),
      fun () -> Counting.release c );
  each
    ( "Binary",
      (fun f -> Binary.with_permit b f),
      (fun f -> Binary.try_with_permit b f),
      (fun () -> Binary.try_acquire b),
      fun () -> Binary.release b )

let () =
  run "Semaphore"
    [
      ( "operations",
        [
          test "misuse" misuse;
          test "permits are counted" counts;
          test "a released permit passes on" permits_pass_on;
          test "no permit is lost" permits_are_kept;
          test "no more tasks than permits" limit;
          test "several: misuse" misuse_of_several;
          test "several at once" several;
          test "a large request is not overtaken" large_first;
          test "a large request is cancelled" large_cancelled;
          test "a large request refuses" large_refuses;
          test "two of three, repeatedly" two_of_three;
          test "binary" binary;
          test "with_permit" with_permit;
        ] );
      Outside.suite no_effect;
      as_a_lock "counting" counting;
      as_a_lock "binary" one_permit;
    ]
