(* Locks and conditions between two hosts. *)

open Concord
open Cell_kit

(* A buffer for one value. *)
let condition between =
  let mutex = Mutex.create () and buffer = ref None in
  let filled = Condition.create () and emptied = Condition.create () in
  let rec wait_until f condition =
    match f () with
    | Some v -> v
    | None ->
        Condition.wait condition mutex;
        wait_until f condition
  in
  let take () =
    Mutex.protect mutex @@ fun () ->
    let v = wait_until (fun () -> !buffer) filled in
    buffer := None;
    Condition.signal emptied;
    v
  and put v =
    Mutex.protect mutex @@ fun () ->
    let is_empty () = if !buffer = None then Some () else None in
    wait_until is_empty emptied;
    buffer := Some v;
    Condition.signal filled
  in
  let a () =
    for i = 1 to messages do
      assert (take () = i)
    done
  and b () =
    for i = 1 to messages do
      put i
    done
  in
  between [ a ] [ b ]

(* Both sides increment a number in turn. *)
let condition_alone between =
  let n = Atomic.make 0 and changed = Condition.create () in
  let count mine wait =
    for i = 0 to (messages / 2) - 1 do
      wait changed (fun () ->
          if Atomic.get n = (2 * i) + mine then Some () else None);
      Atomic.incr n;
      Condition.broadcast changed
    done
  in
  let a () = count 0 Condition.loop_no_mutex
  and b () =
    count 1 (fun t f -> Event.sync (Condition.loop_no_mutex_evt t f))
  in
  between [ a ] [ b ];
  assert (Atomic.get n = messages)

(* The first task waits inside, while its sibling and a task of the other host wait for the
   lock. *)
let mutex between =
  let lock = Mutex.create () and inside = ref false and entered = ref 0 in
  let held = Promise.create () and go_on = Promise.create () in
  let section f =
    Mutex.protect lock @@ fun () ->
    assert (not !inside);
    inside := true;
    f ();
    incr entered;
    inside := false
  in
  let often () =
    for _ = 1 to messages do
      section ignore
    done
  in
  let a () =
    section (fun () ->
        ignore (Promise.try_fill held () : bool);
        Promise.await go_on);
    often ()
  and b () =
    until_somebody_waits (fun () -> Mutex.waiters lock);
    Promise.fill go_on ();
    often ()
  and other_b () =
    Promise.await held;
    often ()
  in
  between [ a; a ] [ other_b; b ];
  assert (!entered = 2 + (4 * messages))

let semaphore between =
  let open Semaphore in
  let there = Counting.make 0 and back = Binary.make false in
  let a () =
    for _ = 1 to messages do
      Counting.acquire there;
      Binary.release back
    done
  and b () =
    for _ = 1 to messages do
      Counting.release there;
      Binary.acquire back
    done
  in
  between [ a ] [ b ]

(* A reader sees either both counters incremented or neither. *)
let rwlock between =
  let lock = Rwlock.create () and one = ref 0 and other = ref 0 in
  let up () =
    incr one;
    incr other
  and check () = assert (!one = !other) in
  let work () =
    for i = 1 to messages do
      if i land 3 = 0 then Rwlock.write lock up else Rwlock.read lock check
    done
  in
  between [ work; work ] [ work; work ];
  assert (!one = messages)

let barrier between =
  let barrier = Barrier.create 4 and came = Atomic.make 0 in
  let work () =
    for round = 1 to messages / 4 do
      Atomic.incr came;
      Barrier.await barrier;
      assert (Atomic.get came >= 4 * round)
    done
  in
  between [ work; work ] [ work; work ]

(* A value reaches only the tasks that wait at that moment. *)
let bvar between =
  let t = Bvar.create () in
  let a () = assert (Bvar.wait t = 42)
  and b () =
    until_somebody_waits (fun () -> Bvar.waiters t);
    Bvar.broadcast t 42
  in
  between [ a ] [ b ]

let watch between =
  let t = Watch.create 0 in
  let _, since = Watch.read t in
  let a () = assert (fst (Watch.changed t ~since) = 42)
  and b () =
    until_somebody_waits (fun () -> Watch.waiters t);
    Watch.set t 42
  in
  between [ a ] [ b ]

(* Every other item is withdrawn, unless it was taken before. *)
let work_queue between =
  let t = Work_queue.create 2 and withdrawn = ref 0 and sum = ref 0 in
  let a () =
    for i = 1 to messages do
      let ticket = Work_queue.add t i in
      if i mod 2 = 0 && Work_queue.withdraw ticket then
        withdrawn := !withdrawn + i
    done;
    Work_queue.close t
  and b () = Work_queue.iter (fun i -> sum := !sum + i) t in
  between [ a ] [ b ];
  assert (!sum + !withdrawn = messages * (messages + 1) / 2)

let pool between =
  let pool = Pool.create 1 (fun () -> ref 0) in
  let use () =
    for _ = 1 to messages do
      Pool.use pool incr
    done
  in
  between [ use ] [ use ];
  assert (Pool.use pool ( ! ) = 2 * messages)

let latch between =
  let latch = Latch.create 3 and reached = Atomic.make 0 in
  let a () =
    Latch.await latch;
    assert (Atomic.get reached = 3)
  and b () =
    until_somebody_waits (fun () -> Latch.waiters latch);
    for _ = 1 to 3 do
      Atomic.incr reached;
      Latch.count_down latch
    done
  in
  between [ a; a ] [ b ]
