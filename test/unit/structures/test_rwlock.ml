open Concord
open Concord_test_support
open Check

exception Boom

let[@inline never] culprit () = if true then raise Boom
let waiting t n = int "waiters" n (Rwlock.waiters t)

let reader t say name =
  Hand.start (fun () ->
      Rwlock.read_lock t;
      say name)

let writer t say name =
  Hand.start (fun () ->
      Rwlock.write_lock t;
      say name)

let writers_first = `Writers

(* --- Which tasks may enter ------------------------------------------------ *)

(* While the lock is handed to a reader, another task unlocks it, which doesn't hold it. Then the
   reader refuses, so it is given back twice. *)
let unlocked_twice () =
  let t = Rwlock.create () in
  Rwlock.write_lock t;
  let suspend block _ =
    let resumer _ =
      Rwlock.read_unlock t;
      false
    in
    no "waits" (Option.is_some (block resumer))
  in
  Handled.until_wait { suspend } (fun () -> Rwlock.read_lock t);
  Rwlock.write_unlock t;
  yes "free for a writer" (Rwlock.try_write_lock t);
  no "but not for two" (Rwlock.try_write_lock t);
  Rwlock.write_unlock t;
  yes "free for a reader" (Rwlock.try_read_lock t);
  Rwlock.read_unlock t

(* The writer's alternative is withdrawn when another one is chosen. *)
let writer_chooses_otherwise ?prefer () =
  let t = Rwlock.create ?prefer () in
  Rwlock.read_lock t;
  let box = Mvar.create_empty () in
  let select = [ Rwlock.write_lock_evt t; Mvar.take_evt box ] in
  let chooser = Hand.start (fun () -> Event.select select) in
  let r = Hand.start (fun () -> Event.sync (Rwlock.read_lock_evt t)) in
  waiting t 2;
  Mvar.put box ();
  Hand.settle ();
  Hand.result chooser;
  Hand.result r;
  waiting t 0;
  let choose = [ Rwlock.read_lock_evt t; Mvar.take_evt box ] in
  Event.select choose;
  int "nothing else was taken" 0 (Mvar.waiters box);
  for _ = 1 to 3 do
    Rwlock.read_unlock t
  done;
  yes "free" (Rwlock.try_write_lock t);
  let reader = Hand.start (fun () -> Event.select choose) in
  Mvar.put box ();
  Rwlock.write_unlock t;
  yes "no task reads" (Rwlock.try_write_lock t);
  Hand.settle ();
  Hand.result reader;
  Rwlock.write_unlock t

let misuse () =
  let t = Rwlock.create () in
  let read_error =
    Sys_error "Rwlock.read_unlock: no task holds the lock to read"
  and write_error =
    Sys_error "Rwlock.write_unlock: no task holds the lock to write"
  in
  let refused what e f = raises what e (fun () -> f t) in
  refused "free" read_error Rwlock.read_unlock;
  refused "free" write_error Rwlock.write_unlock;
  Rwlock.read_lock t;
  refused "somebody reads" write_error Rwlock.write_unlock;
  Rwlock.read_unlock t;
  refused "twice" read_error Rwlock.read_unlock;
  Rwlock.write_lock t;
  refused "somebody writes" read_error Rwlock.read_unlock;
  Rwlock.write_unlock t;
  refused "twice" write_error Rwlock.write_unlock;
  yes "it still works" (Rwlock.try_write_lock t)

let within () =
  let t = Rwlock.create () in
  let free () =
    yes "free" (Rwlock.try_write_lock t);
    Rwlock.write_unlock t
  in
  int "read" 3
    (Rwlock.read t (fun () ->
         no "shared" (Rwlock.try_write_lock t);
         3));
  free ();
  int "write" 4
    (Rwlock.write t (fun () ->
         no "alone" (Rwlock.try_read_lock t);
         4));
  free ();
  raises_at "culprit" (fun () -> Rwlock.read t culprit);
  free ();
  raises_at "culprit" (fun () -> Rwlock.write t culprit);
  free ();
  let gate = Promise.create () in
  let await () = Promise.await gate in
  let w = Hand.start (fun () -> Rwlock.write t await) in
  let never = Hand.start (fun () -> Rwlock.read t (fun () -> assert false)) in
  let r = Hand.start (fun () -> Rwlock.read t await) in
  Hand.unwind never;
  Hand.unwind w;
  no "passed on" (Rwlock.try_write_lock t);
  Hand.unwind r;
  free ()

let downgraded () =
  let t = Rwlock.create () in
  let refused what =
    raises what (Sys_error "Rwlock.downgrade: no task holds the lock to write")
      (fun () -> Rwlock.downgrade t)
  in
  refused "free";
  Rwlock.write_lock t;
  Rwlock.downgrade t;
  refused "it reads";
  no "no task writes" (Rwlock.try_write_lock t);
  yes "others read" (Rwlock.try_read_lock t);
  raises "it is no writer"
    (Sys_error "Rwlock.write_unlock: no task holds the lock to write")
    (fun () -> Rwlock.write_unlock t);
  Rwlock.read_unlock t;
  Rwlock.read_unlock t;
  refused "free again";
  yes "free" (Rwlock.try_write_lock t)

(* In the function of [write], the bracket ends what [downgrade] has left. *)
let downgraded_in_write () =
  let t = Rwlock.create () in
  let reading = ref 0 in
  let in_write finish =
    Rwlock.write t (fun () ->
        let r = reader t (fun _ -> incr reading) "r" in
        let w = writer t ignore "w" in
        Rwlock.downgrade t;
        Hand.settle ();
        Hand.result r;
        Rwlock.read_unlock t;
        waiting t 1;
        Hand.unwind w;
        no "no task writes" (Rwlock.try_write_lock t);
        finish ())
  in
  in_write ignore;
  yes "free" (Rwlock.try_write_lock t);
  Rwlock.write_unlock t;
  raises "its exception" Boom (fun () -> in_write culprit);
  yes "free after an exception" (Rwlock.try_write_lock t);
  Rwlock.write_unlock t;
  int "they read" 2 !reading;
  raises "unlocked in the function"
    (Sys_error "Rwlock.write_unlock: no task holds the lock to write")
    (fun () ->
      Rwlock.write t (fun () ->
          Rwlock.downgrade t;
          Rwlock.read_unlock t))

(* Waiters that were cancelled are passed over. *)
let downgraded_beside_cancelled () =
  let t = Rwlock.create () in
  Rwlock.write_lock t;
  let w = writer t ignore "w" in
  let r = reader t ignore "r" in
  ignore (Hand.cancel w);
  Rwlock.downgrade t;
  Hand.settle ();
  Hand.unwound w;
  Hand.result r;
  Rwlock.read_unlock t;
  Rwlock.read_unlock t;
  yes "free" (Rwlock.try_write_lock t)

(* A writer that has downgraded its lock must read what it wrote. *)
let downgraded_on_domains () =
  let t = Rwlock.create () and last = ref 0 and wrong = Atomic.make 0 in
  let work me () =
    for i = 1 to 300 do
      Rwlock.write_lock t;
      last := (me * 1000) + i;
      Rwlock.downgrade t;
      Concord_fifo.yield ();
      if !last <> (me * 1000) + i then Atomic.incr wrong;
      Rwlock.read_unlock t
    done
  in
  let tasks first () =
    Concord_fifo.run @@ fun () ->
    List.iter Concord_fifo.join
      (List.init 3 (fun i -> Concord_fifo.fork (work (first + i))))
  in
  let join = domain (tasks 1) in
  tasks 4 ();
  join ();
  int "another wrote" 0 (Atomic.get wrong);
  waiting t 0;
  yes "free" (Rwlock.try_write_lock t)

let no_effect () =
  let t = Rwlock.create () in
  yes "read" (Rwlock.try_read_lock t);
  yes "poll" (Event.poll (Rwlock.read_lock_evt t) = Some ());
  no "write" (Rwlock.try_write_lock t);
  yes "poll" (Event.poll (Rwlock.write_lock_evt t) = None);
  let task = Hand.start (fun () -> Rwlock.write_lock t) in
  waiting t 1;
  Rwlock.read_unlock t;
  Rwlock.read_unlock t;
  Rwlock.write_unlock t;
  int "read" 1 (Rwlock.read t (fun () -> 1));
  int "write" 2 (Rwlock.write t (fun () -> 2));
  Hand.settle ();
  Hand.result task

(* Counts the tasks inside, in threads and in tasks on another domain. *)
let exclusion ?prefer () =
  let t = Rwlock.create ?prefer () in
  let readers = Atomic.make 0 and writers = Atomic.make 0 in
  let wrong = Atomic.make 0 in
  let inside count ~most other () =
    let before = Atomic.fetch_and_add count 1 in
    if before >= most || Atomic.get other > 0 then Atomic.incr wrong;
    Concord_fifo.yield ();
    Atomic.decr count
  in
  let work () =
    for i = 1 to 500 do
      if i mod 3 = 0 then Rwlock.write t (inside writers ~most:1 readers)
      else Rwlock.read t (inside readers ~most:max_int writers)
    done
  in
  let tasks () =
    Concord_fifo.run @@ fun () ->
    List.iter Concord_fifo.join (List.init 3 (fun _ -> Concord_fifo.fork work))
  in
  let join = domain tasks in
  beside tasks tasks;
  join ();
  int "tasks that must not be inside" 0 (Atomic.get wrong);
  waiting t 0;
  yes "free" (Rwlock.try_write_lock t)

let lock ?prefer () : Lock_cases.t =
  let t = Rwlock.create ?prefer () in
  {
    acquire = (fun () -> Rwlock.write_lock t);
    try_acquire = (fun () -> Rwlock.try_write_lock t);
    release = (fun () -> Rwlock.write_unlock t);
    waiters = (fun () -> Rwlock.waiters t);
  }

let as_a_lock kind make =
  let name, tests = Lock_cases.suite make in
  (kind ^ ", " ^ name, tests)

let () =
  run "Rwlock"
    [
      ("order", []);
      ( "operations",
        [
          test "a writer chooses otherwise" writer_chooses_otherwise;
          test "writers first: the same"
            (writer_chooses_otherwise ~prefer:writers_first);
          test "unlock a lock that is not held" misuse;
          test "unlock a lock that is handed to another task" unlocked_twice;
          test "read and write" within;
          test "downgrade a writer only" downgraded;
          test "downgrade in the function of write" downgraded_in_write;
          test "downgrade passes over cancelled tasks"
            downgraded_beside_cancelled;
          test "downgrade on two domains" downgraded_on_domains;
          test "readers and writers on two domains" exclusion;
          test "writers first: the same" (exclusion ~prefer:writers_first);
        ] );
      Outside.suite no_effect;
      as_a_lock "fair" lock;
      as_a_lock "writers first" (lock ~prefer:writers_first);
    ]
