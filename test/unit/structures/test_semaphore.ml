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
          test "no more tasks than permits" limit;
          test "several: misuse" misuse_of_several;
          test "several at once" several;
          test "two of three, repeatedly" two_of_three;
          test "with_permit" with_permit;
        ] );
      Outside.suite no_effect;
      as_a_lock "counting" counting;
      as_a_lock "binary" one_permit;
    ]
